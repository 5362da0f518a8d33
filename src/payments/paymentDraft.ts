import type { Message } from '../types/message.ts'

/** A message that the node is to price, number and sign. */
export type PaymentDraft = Pick<Message, 'to' | 'from' | 'value' | 'method' | 'params'>

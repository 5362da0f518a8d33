/** Messages as parameters: pointers of Go, so null is refused where a message is needed. */
import { type Codec, jsonOnly, nullable } from '../../codec/description.ts'
import { jsonField, named } from '../../codec/goJson.ts'
import { type Message, message } from '../../types/message.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import { RpcError } from '../errors.ts'

/** A message that may be null. */
export const messageParam: Codec<Message | null> = nullable(named(message, 'types.Message'))
/** A signed message that may be null. */
export const signedMessageParam: Codec<SignedMessage | null> = nullable(named(signedMessage, 'types.SignedMessage'))

/** A message to be sent: unlike the gas fields its value has no default. */
export interface OutgoingMessage {
  readonly message: Message
  readonly hasValue: boolean
}

/** A message to be sent, which may be null. */
export const outgoingMessageParam: Codec<OutgoingMessage | null> = nullable(
  jsonOnly<OutgoingMessage>(
    'types.Message',
    ({ message: outgoing }, context) => message.toJson(outgoing, context),
    (json, context) => {
      const fields = json !== null && typeof json === 'object' && !Array.isArray(json) ? json : {}
      return { message: message.fromJson(json, context), hasValue: jsonField(fields, 'Value') !== undefined }
    },
    message.schema,
  ),
)

/** @throws RpcError `FAILED` for null */
export function given<T>(value: T | null): T {
  if (value === null) throw new RpcError('FAILED', 'message is nil')
  return value
}

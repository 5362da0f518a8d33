/** Two ends of a message channel, typed as the sessions of a tab take them. */
import type { FramePort } from '../../platform/browser/framePort.ts'

/** A connected pair. */
export function framePorts(): [FramePort, FramePort] {
  const { port1, port2 } = new MessageChannel()
  return [port1 as unknown as FramePort, port2 as unknown as FramePort]
}

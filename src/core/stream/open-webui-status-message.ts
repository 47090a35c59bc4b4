/**
 * A line of a stream that Open WebUI shows above an answer in small print, and that is no part of the
 * answer. It knows the key `event` as a word of the server that it talks to, so nobody else is sent it.
 */
export interface OpenWebUiStatusMessage {
  readonly data: string
}

/** `done: false` has it shown as work that goes on. */
export function createOpenWebUiStatusMessage(text: string, done: boolean): OpenWebUiStatusMessage {
  return { data: JSON.stringify({ event: { type: 'status', data: { description: text, done } } }) }
}

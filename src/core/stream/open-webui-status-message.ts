/**
 * A stream message that Open WebUI shows as a status line above an answer. Its key `event` is not part
 * of any API, so other clients are never sent such a message.
 */
export interface OpenWebUiStatusMessage {
  readonly data: string
  /** The text that is shown; also part of `data`. */
  readonly text: string
}

/** Creates the message; with `done: false`, Open WebUI shows the text as work in progress. */
export function createOpenWebUiStatusMessage(text: string, done: boolean): OpenWebUiStatusMessage {
  const event = { type: 'status', data: { description: text, done } }
  return { data: JSON.stringify({ event }), text }
}

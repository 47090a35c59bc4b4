/**
 * Creates a stream line that Open WebUI shows above an answer in small print. Open WebUI expects the
 * key `event` only from its own server, so other clients are never sent such a line.
 */
export interface OpenWebUiStatusMessage {
  readonly data: string
}

/** `done: false` shows the text as work in progress. */
export function createOpenWebUiStatusMessage(text: string, done: boolean): OpenWebUiStatusMessage {
  return { data: JSON.stringify({ event: { type: 'status', data: { description: text, done } } }) }
}

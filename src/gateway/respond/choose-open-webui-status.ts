/**
 * Chooses the status line that Open WebUI shows above an answer, e.g. that old messages were dropped from the
 * prompt. Other clients get no status lines. Status lines of an upstream are never passed on.
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import type { Note } from '../../core/note.ts'
import {
  createOpenWebUiStatusMessage,
  type OpenWebUiStatusMessage,
} from '../../core/stream/open-webui-status-message.ts'

/**
 * Returns the status line; null if no note is of interest to the user, or if the client shows no status
 * lines. `lostReasoningCause`: why reasoning can no longer be sent, e.g. `the tools changed`; null if unknown.
 */
export function chooseOpenWebUiStatus(
  client: ClientTraits,
  notes: readonly Note[],
  lostReasoningCause: string | null = null,
): OpenWebUiStatusMessage | null {
  if (!showsStatusLines(client)) return null
  const line = STATUS_LINES.find(({ codes }) => notes.some(({ why }) => codes.includes(why)))
  if (line === undefined) return null
  const cause = line.namesCause === true ? (lostReasoningCause ?? UNKNOWN_CAUSE) : null
  return createOpenWebUiStatusMessage(cause === null ? line.text : `${line.text}: ${cause}`, true)
}

export function showsStatusLines({ isOpenWebUi, isTask }: ClientTraits): boolean {
  return isOpenWebUi && !isTask
}

interface StatusLine {
  readonly codes: readonly string[]
  readonly text: string
  /** True if the cause of lost reasoning follows the text. */
  readonly namesCause?: boolean
}

const UNKNOWN_CAUSE = 'something before it changed'

/**
 * Status lines, each with the codes of the notes that cause it. Important ones come first, because only the
 * first line that matches is sent.
 */
const STATUS_LINES: readonly StatusLine[] = [
  {
    codes: ['memory-not-reached'],
    text: 'The memory could not be reached: earlier reasoning and tool results are missing',
  },
  {
    // Before the lines that stand above every later answer, because this one stands above one answer only.
    codes: ['reasoning-newly-lost'],
    text: 'Earlier reasoning was left out',
    namesCause: true,
  },
  {
    codes: ['chat-imported'],
    text: 'Earlier answers of this chat are from elsewhere: their reasoning and tool results are not known here',
  },
  {
    codes: ['windowed', 'over-window'],
    text: 'The oldest messages of this chat were left out',
  },
  {
    codes: ['media-unseen'],
    text: 'This model cannot see everything that was attached: what it cannot see was left out',
  },
  {
    codes: ['reasoning-refused'],
    text: 'The model could not take up its earlier reasoning',
  },
]

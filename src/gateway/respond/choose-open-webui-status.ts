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
 * lines.
 */
export function chooseOpenWebUiStatus(
  client: ClientTraits,
  notes: readonly Note[],
): OpenWebUiStatusMessage | null {
  if (!client.isOpenWebUi || client.isTask) return null
  const text = STATUS_LINES.find(({ codes }) => notes.some(({ why }) => codes.includes(why)))?.text
  return text === undefined ? null : createOpenWebUiStatusMessage(text, true)
}

/**
 * Status lines, each with the codes of the notes that cause it. Important ones come first, because only the
 * first line that matches is sent.
 */
const STATUS_LINES: readonly { readonly codes: readonly string[]; readonly text: string }[] = [
  {
    codes: ['memory-not-reached'],
    text: 'The memory could not be reached: earlier reasoning and tool results are missing',
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

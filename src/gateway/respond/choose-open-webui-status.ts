/**
 * What a user of Open WebUI is told above an answer, in small print. Nobody else is sent it, and what an
 * upstream says under its name is never passed on.
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import type { Note } from '../../core/note.ts'
import {
  createOpenWebUiStatusMessage,
  type OpenWebUiStatusMessage,
} from '../../core/stream/open-webui-status-message.ts'

/** One line about what a user may miss in the answer; `null` where there is nothing to say, or nobody. */
export function chooseStatusLine(
  client: ClientTraits,
  notes: readonly Note[],
): OpenWebUiStatusMessage | null {
  if (!client.isOpenWebUi || client.isTask) return null
  const text = WORDS.find(({ codes }) => notes.some(({ why }) => codes.includes(why)))?.text
  return text === undefined ? null : createOpenWebUiStatusMessage(text, true)
}

/** By the codes of notes, what matters most first: one line is read, several are not. */
const WORDS: readonly { readonly codes: readonly string[]; readonly text: string }[] = [
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

/** What can be said of an upstream with this wire. What holds without it is in `model-traits.ts`. */
import { countQuirk, flagQuirk, choiceQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  cacheControl: choiceQuirk(
    [true, false, '1h'],
    'Whether to mark what is worth keeping in its cache; `1h` for a longer life.',
  ),
  compact: flagQuirk(
    'Compacts conversations itself (`compact_20260112`), as Anthropic does with its newer models.',
  ),
  maxTokens: countQuirk('The limit of an answer when the client names none.'),
  prefill: flagQuirk('A conversation may end with a message of the assistant, to be gone on with.'),
  strictTools: flagQuirk("Holds a tool's arguments to its schema."),
  structuredOutput: choiceQuirk(
    ['native', 'tool'],
    'How an answer is held to a schema: by a setting, or by a tool that takes the answer.',
  ),
  thinking: choiceQuirk(['none', 'budget', 'adaptive'], 'How its models are told to think.'),
}

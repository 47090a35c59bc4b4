/** What can be said of an upstream with this wire. What holds without it is in `model-traits.ts`. */
import { count, flag, oneOf, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  cacheControl: oneOf(
    [true, false, '1h'],
    'Whether to mark what is worth keeping in its cache; `1h` for a longer life.',
  ),
  compact: flag(
    'Compacts conversations itself (`compact_20260112`), as Anthropic does with its newer models.',
  ),
  maxTokens: count('The limit of an answer when the client names none.'),
  prefill: flag('A conversation may end with a message of the assistant, to be gone on with.'),
  strictTools: flag("Holds a tool's arguments to its schema."),
  structuredOutput: oneOf(
    ['native', 'tool'],
    'How an answer is held to a schema: by a setting, or by a tool that takes the answer.',
  ),
  thinking: oneOf(['none', 'budget', 'adaptive'], 'How its models are told to think.'),
}

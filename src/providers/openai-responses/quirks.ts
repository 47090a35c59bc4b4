/** What can be said of a server of the Responses API that is not OpenAI's. */
import { count, flag, list, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  compact: flag(
    'Compacts conversations itself, by `context_management` and at `/responses/compact`, as OpenAI does.',
  ),
  inputTokens: flag('Has the endpoint `/responses/input_tokens`, as OpenAI does.'),
  minOutputTokens: count('The smallest `max_output_tokens` that it accepts; 16 if not said.'),
  passes: list(
    'a list of field names',
    "Fields beyond OpenAI's that it understands, such as `seed` and `stop`.",
  ),
  rawReasoning: flag('Takes reasoning back as plain text, whoever made it.'),
  retell: flag('Its streams break the rules: its answers are told anew, in our words.'),
  sealedReasoning: flag('Whether to ask it for `reasoning.encrypted_content`.'),
}

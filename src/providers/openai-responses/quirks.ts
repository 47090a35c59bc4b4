/** What can be said of a server of the Responses API that is not OpenAI's. */
import { countQuirk, flagQuirk, listQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  compact: flagQuirk(
    'Compacts conversations itself, by `context_management` and at `/responses/compact`, as OpenAI does.',
  ),
  inputTokens: flagQuirk('Has the endpoint `/responses/input_tokens`, as OpenAI does.'),
  minOutputTokens: countQuirk('The smallest `max_output_tokens` that it accepts; 16 if not said.'),
  passes: listQuirk(
    'a list of field names',
    "Fields beyond OpenAI's that it understands, such as `seed` and `stop`.",
  ),
  rawReasoning: flagQuirk('Takes reasoning back as plain text, whoever made it.'),
  retell: flagQuirk('Its streams break the rules: its answers are told anew, in our words.'),
  sealedReasoning: flagQuirk('Whether to ask it for `reasoning.encrypted_content`.'),
}

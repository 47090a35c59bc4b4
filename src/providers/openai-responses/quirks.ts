/** The quirks of Responses accounts: settings for services that deviate from OpenAI's API. */
import { countQuirk, flagQuirk, listQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  compact: flagQuirk(
    'Compacts conversations itself, with `context_management` and `/responses/compact`, as OpenAI does.',
  ),
  completeResponses: flagQuirk(
    'Its response objects have all required fields. If not, the gateway adds the missing ones. Default: true at OpenAI and Azure.',
  ),
  inputTokens: flagQuirk('Has the endpoint `/responses/input_tokens`, as OpenAI does.'),
  minOutputTokens: countQuirk('The smallest `max_output_tokens` that it accepts. Default: 16.'),
  passes: listQuirk(
    'a list of field names',
    "Request fields that it accepts beyond OpenAI's, such as `seed` and `stop`.",
  ),
  rawReasoning: flagQuirk('Accepts earlier reasoning as plain text, also of other models.'),
  retell: flagQuirk(
    'The gateway decodes and rewrites its answers even for Responses clients, because its streams deviate from the API.',
  ),
  sealedReasoning: flagQuirk(
    'The gateway requests `reasoning.encrypted_content` in `include`. Default: true, unless the model is known not to reason.',
  ),
}

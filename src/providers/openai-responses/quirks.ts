/** The quirks of Responses accounts: settings for services that deviate from OpenAI's API. */
import { countQuirk, flagQuirk, listQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  compact: flagQuirk(
    'Compacts conversations itself, with `context_management` and `/responses/compact`, as OpenAI does.',
  ),
  inputTokens: flagQuirk('Has the endpoint `/responses/input_tokens`, as OpenAI does.'),
  minOutputTokens: countQuirk('The smallest `max_output_tokens` that it accepts; 16 by default.'),
  passes: listQuirk(
    'a list of field names',
    "Request fields that it accepts beyond OpenAI's, such as `seed` and `stop`.",
  ),
  rawReasoning: flagQuirk('Accepts earlier reasoning as plain text, also of other models.'),
  retell: flagQuirk(
    'Decodes and rewrites its answers even for Responses clients, because its streams deviate from the API.',
  ),
  sealedReasoning: flagQuirk(
    'Whether `include` requests `reasoning.encrypted_content`. By default, unless the model is known not to reason.',
  ),
}

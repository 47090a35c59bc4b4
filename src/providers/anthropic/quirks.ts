/**
 * The quirks of Anthropic accounts: settings for services that deviate from Anthropic's API.
 * `model-traits.ts` has the defaults.
 */
import { countQuirk, flagQuirk, choiceQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  cacheControl: choiceQuirk(
    [true, false, '1h'],
    'The gateway sends cache breakpoints; `1h` keeps the cache for an hour. Default: true.',
  ),
  compact: flagQuirk(
    'Compacts conversations itself (`compact_20260112`), as Anthropic does with its newer models.',
  ),
  maxTokens: countQuirk('The `max_tokens` of requests without a limit. Default: by the model.'),
  prefill: flagQuirk('Continues an assistant message at the end of the conversation.'),
  strictTools: flagQuirk('Enforces the schema of tool arguments.'),
  structuredOutput: choiceQuirk(
    ['native', 'tool'],
    'How the schema of an answer is enforced: by a setting, or by a tool that the model must call.',
  ),
  thinking: choiceQuirk(
    ['none', 'budget', 'adaptive'],
    'How thinking is requested: not at all, by a token budget, or by an effort.',
  ),
}

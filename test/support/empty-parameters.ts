/** The parameters of a request without any but its model. */
import type { PromptParameters } from '../../src/core/prompt.ts'

export const NO_PARAMS: PromptParameters = {
  model: 'm',
  instructions: null,
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  temperature: null,
  topP: null,
  maxOutputTokens: null,
  stop: [],
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  topLogprobs: null,
  format: null,
  verbosity: null,
  effort: null,
  reasoningSummary: null,
  serviceTier: null,
  promptCacheKey: null,
  safetyIdentifier: null,
  user: null,
  include: [],
  extra: {},
}

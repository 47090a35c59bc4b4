/**
 * Adds quirks of models, which apply at every service: some models need their earlier reasoning in each assistant
 * message, not only in those that call tools.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { ChatQuirks } from './quirk-table.ts'

/**
 * Adds the quirks of the model to those of the account. A quirk that the account sets itself takes precedence. The
 * `reasoningOn` of its profile does not, because a profile describes the service and not the model.
 */
export function addModelQuirks(
  quirks: ChatQuirks,
  accountQuirks: JsonObject,
  model: string,
): ChatQuirks {
  if (accountQuirks['reasoningOn'] !== undefined || !needsAllReasoning(model)) return quirks
  return { reasoningField: 'reasoning_content', ...quirks, reasoningOn: 'all' }
}

/** True for a model that was trained with the reasoning of all earlier answers. A vendor prefix is ignored. */
function needsAllReasoning(model: string): boolean {
  return ALL_REASONING_MODEL.test(model.slice(model.lastIndexOf('/') + 1))
}

/**
 * The documentation of these models demands it: https://platform.kimi.ai, https://platform.minimax.io,
 * https://docs.z.ai.
 */
const ALL_REASONING_MODEL = /^(?:kimi-k3|kimi-k2\.7-code|minimax-m3|glm-5\.2)(?![\da-z])/i

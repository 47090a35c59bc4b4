/**
 * Plans the prompt of a stored conversation: the one that its next request would send, but without
 * new input.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { SummaryRules } from '../../core/context-policy.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import { loadRequestHistory } from '../../gateway/history/load-request-history.ts'
import { planRequest } from '../../gateway/prompt/plan-request.ts'
import type { PlannedRequest } from '../../gateway/prompt/planned-request.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

interface PlanOptions {
  /** The model to plan for; if null, the model of the latest turn. */
  readonly model: string | null
  readonly summaries: Partial<SummaryRules>
}

export type StoredConversationPorts = Ports<
  | 'accounts'
  | 'answerMessages'
  | 'archive'
  | 'conversations'
  | 'log'
  | 'memoryLayers'
  | 'nowMs'
  | 'recall'
  | 'settings'
  | 'store'
>

/** Resolves to null if the conversation has no items yet. */
export async function planStoredConversation(
  conversation: string,
  { model, summaries }: PlanOptions,
  caller: Caller,
  ports: StoredConversationPorts,
): Promise<PlannedRequest | null> {
  const body = { model: model ?? 'none', input: [], conversation }
  const parsed = responsesDialect.parse(body)
  const dryRun = { ...parsed, generatesAnswer: false, policyOverrides: { summaries } }
  const { clientRequest, history } = await loadRequestHistory(dryRun, caller, ports)
  const { parent } = history
  if (parent === null || history.items.length === 0) return null
  const { model: latest } = parent.request
  const modelName = model ?? (typeof latest === 'string' ? latest : parent.origin.model)
  const [target] = routeModel(ports, modelName, clientRequest)
  const params = { ...clientRequest.params, model: modelName }
  return planRequest(target, { clientRequest: { ...clientRequest, params }, history }, ports)
}

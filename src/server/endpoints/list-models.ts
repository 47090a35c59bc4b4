/**
 * `GET /v1/models`: merges the model lists of all upstreams. The gateway waits 5 s for each list, because
 * Open WebUI waits 10 s for all models and then shows none. For an upstream that fails, it returns the last
 * list that this process got from it; otherwise the chats of Open WebUI would lose their model.
 */
import { matchesModelPattern, listNamedModels } from '../../upstream/accounts-and-model-routing.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import { GatewayError, errorMessage } from '../../core/errors/gateway-error.ts'
import type { Account } from '../../providers/provider-interface.ts'
import { createUpstreamHeaders } from '../../upstream/create-upstream-headers.ts'
import {
  removeModelsPrefix,
  convertListedModel,
  createModelObject,
} from './convert-listed-model.ts'
import { readJsonBody } from '../../upstream/transport/read-complete-reply.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

const UPSTREAM_TIMEOUT_MS = 5000

export async function listModels(
  ports: Ports<'accounts' | 'log' | 'settings' | 'transport' | 'upstreamKnowledge'>,
  timeoutMs = UPSTREAM_TIMEOUT_MS,
): Promise<JsonObject> {
  const aliases = Object.keys(ports.settings.MODELS).map((id) => createModelObject(id, 'backstory'))
  const lists = ports.accounts.map((account) => listAccountModels(account, ports, timeoutMs))
  const models = [aliases, ...(await Promise.all(lists))].flat()
  // Keeps the first entry of each model: it belongs to the account that receives the requests for
  // the model.
  const byId = new Map<JsonObject['id'], JsonObject>()
  for (const model of models) if (!byId.has(model['id'])) byId.set(model['id'], model)
  return { object: 'list', data: [...byId.values()] }
}

export async function requireModel(
  id: string,
  ports: Ports<'accounts' | 'log' | 'settings' | 'transport' | 'upstreamKnowledge'>,
): Promise<JsonObject> {
  const { data } = (await listModels(ports)) as { readonly data: readonly JsonObject[] }
  const ids = [id, removeModelsPrefix(id)]
  const model = data.find((listed) => ids.includes(listed['id'] as string))
  if (model !== undefined) return model
  throw new GatewayError('model_not_found', `The model '${id}' does not exist.`, { param: 'model' })
}

async function listAccountModels(
  account: Account,
  ports: Ports<'log' | 'transport' | 'upstreamKnowledge'>,
  timeoutMs: number,
): Promise<readonly JsonObject[]> {
  const named = listNamedModels(account).map((id) => createModelObject(id, account.name))
  if (named.length === account.models.length) return named
  return [...named, ...(await loadModelsMatchingPatterns(account, ports, timeoutMs))]
}

/** Loads the upstream's own list and keeps the models that match a pattern such as `claude-*`. */
async function loadModelsMatchingPatterns(
  account: Account,
  ports: Ports<'log' | 'transport' | 'upstreamKnowledge'>,
  timeoutMs: number,
): Promise<readonly JsonObject[]> {
  try {
    const { json, status } = await requestModelList(account, ports, timeoutMs)
    // OpenAI and Anthropic call the list `data`; Gemini calls it `models`, with names like `models/x`.
    const list = json['data'] ?? json['models']
    if (!Array.isArray(list)) {
      // A key that is rejected lists nothing, so that the operator notices.
      if (isRefusal(status)) ports.upstreamKnowledge?.saveModels(account.name, [])
      const why = `The upstream answered with status ${status} and no list of models.`
      throw new GatewayError('upstream_broken', why)
    }
    const models = (list as readonly unknown[])
      .filter(isObject)
      .map((model) => convertListedModel(model, account))
      .filter(({ id }) => typeof id === 'string' && id !== '' && isServed(account, id))
    ports.upstreamKnowledge?.saveModels(account.name, models)
    return models
  } catch (error) {
    ports.log('warn', 'models-not-listed', { upstream: account.name, why: errorMessage(error) })
    return ports.upstreamKnowledge?.getModels(account.name) ?? []
  }
}

/** True for a status that says that the request is wrong, not that the upstream is busy. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

function isServed({ models }: Account, id: string): boolean {
  return models.some((pattern) => matchesModelPattern(pattern, id))
}

async function requestModelList(
  account: Account,
  { transport }: Ports<'transport'>,
  timeoutMs: number,
): Promise<{ readonly json: JsonObject; readonly status: number }> {
  const call = transport({
    method: 'GET',
    url: `${account.baseUrl}/models`,
    headers: createUpstreamHeaders(account),
    body: null,
  })
  const answer = call.reply.then(async (reply) => {
    const { json } = await readJsonBody(call, reply)
    return { json, status: reply.status }
  })
  const loaded = await waitWithTimeout(answer, timeoutMs)
  if (loaded !== TIMED_OUT) return loaded
  call.cancel()
  throw new GatewayError('upstream_timeout', 'The upstream took too long to list them.')
}

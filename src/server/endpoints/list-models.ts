/**
 * `GET /v1/models`: merges the model lists of all upstreams. The list of an upstream that fails or
 * takes longer than 5 s is left out, because Open WebUI waits 10 s for all models and then shows
 * none. Only known fields of a model are returned, never `pipeline`: with that field Open WebUI
 * would request filters that the gateway does not have, and fail.
 */
import { matchesModelPattern, listNamedModels } from '../../upstream/accounts-and-model-routing.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import { GatewayError, errorMessage } from '../../core/errors/gateway-error.ts'
import type { Account } from '../../providers/provider-interface.ts'
import { createUpstreamHeaders } from '../../upstream/create-upstream-headers.ts'
import { readJsonBody } from '../../upstream/transport/read-complete-reply.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

const UPSTREAM_TIMEOUT_MS = 5000

export async function listModels(
  ports: Ports<'accounts' | 'log' | 'settings' | 'transport'>,
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
  ports: Ports<'accounts' | 'log' | 'settings' | 'transport'>,
): Promise<JsonObject> {
  const { data } = (await listModels(ports)) as { readonly data: readonly JsonObject[] }
  const model = data.find((listed) => listed['id'] === id)
  if (model !== undefined) return model
  throw new GatewayError('model_not_found', `The model '${id}' does not exist.`, { param: 'model' })
}

async function listAccountModels(
  account: Account,
  ports: Ports<'log' | 'transport'>,
  timeoutMs: number,
): Promise<readonly JsonObject[]> {
  const named = listNamedModels(account).map((id) => createModelObject(id, account.name))
  if (named.length === account.models.length) return named
  return [...named, ...(await loadModelsMatchingPatterns(account, ports, timeoutMs))]
}

/** Loads the upstream's own list and keeps the models that match a pattern such as `claude-*`. */
async function loadModelsMatchingPatterns(
  account: Account,
  ports: Ports<'log' | 'transport'>,
  timeoutMs: number,
): Promise<readonly JsonObject[]> {
  try {
    const json = await requestModelList(account, ports, timeoutMs)
    // OpenAI and Anthropic call the list `data`; Gemini calls it `models`, with names like `models/x`.
    const list = json['data'] ?? json['models']
    if (!Array.isArray(list)) return []
    return (list as readonly unknown[]).filter(isObject).flatMap((model) => {
      const id = readModelId(model)
      const isServed = account.models.some((pattern) => matchesModelPattern(pattern, id))
      return id !== '' && isServed
        ? [{ ...createModelObject(id, account.name), ...copyKnownFields(model), id }]
        : []
    })
  } catch (error) {
    ports.log('warn', 'models-not-listed', { upstream: account.name, why: errorMessage(error) })
    return []
  }
}

async function requestModelList(
  account: Account,
  { transport }: Ports<'transport'>,
  timeoutMs: number,
): Promise<JsonObject> {
  const call = transport({
    method: 'GET',
    url: `${account.baseUrl}/models`,
    headers: createUpstreamHeaders(account),
    body: null,
  })
  const answer = call.reply.then((reply) => readJsonBody(call, reply))
  const loaded = await waitWithTimeout(answer, timeoutMs)
  if (loaded !== TIMED_OUT) return loaded.json
  call.cancel()
  throw new GatewayError('upstream_timeout', 'The upstream took too long to list them.')
}

function readModelId({ id, name }: JsonObject): string {
  const value = id ?? name
  return typeof value === 'string' ? value.replace(/^models\//, '') : ''
}

function createModelObject(id: string, owner: string): JsonObject {
  return { id, object: 'model', created: 0, owned_by: owner }
}

/** Copies only known fields with a value, because unknown fields may be of any size. */
function copyKnownFields(model: JsonObject): JsonObject {
  const known = ['created', 'owned_by', 'name', 'context_length', 'max_model_len']
  // Open WebUI leaves out a model whose name is null.
  const hasValue = (key: string): boolean => (model[key] ?? null) !== null
  return Object.fromEntries(known.flatMap((key) => (hasValue(key) ? [[key, model[key]]] : [])))
}

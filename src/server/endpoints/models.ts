/**
 * `/v1/models`: what the upstreams offer, merged. An upstream that does not answer is left out, and one
 * that does not answer soon as well: Open WebUI waits ten seconds for the list, and without it shows no
 * model at all. Of what an upstream says of a model only known fields are passed on, never `pipeline`:
 * Open WebUI would then ask for filters that nobody has, and fail.
 */
import { matchesModelPattern, listNamedModels } from '../../upstream/accounts-and-model-routing.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { GatewayError, errorMessage } from '../../core/errors/gateway-error.ts'
import type { Account } from '../../providers/provider-interface.ts'
import { PROVIDERS } from '../../providers/registry.ts'
import { readJsonBody } from '../../upstream/transport/read-body.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'

const PATIENCE_MS = 5000

export async function listModels(
  world: GatewayDependencies,
  patienceMs = PATIENCE_MS,
): Promise<JsonObject> {
  const own = Object.keys(world.settings.MODELS).map((id) => modelObject(id, 'backstory'))
  const listing = world.accounts.map((account) => modelsOf(account, world, patienceMs))
  const models = [own, ...(await Promise.all(listing))].flat()
  // The first that serves a model is asked for it, so the list says what that one says of it.
  const seen = new Map<JsonObject['id'], JsonObject>()
  for (const model of models) if (!seen.has(model['id'])) seen.set(model['id'], model)
  return { object: 'list', data: [...seen.values()] }
}

export async function findModel(id: string, world: GatewayDependencies): Promise<JsonObject> {
  const { data } = (await listModels(world)) as { readonly data: readonly JsonObject[] }
  const found = data.find((model) => model['id'] === id)
  if (found !== undefined) return found
  throw new GatewayError('model_not_found', `The model '${id}' does not exist.`, { param: 'model' })
}

async function modelsOf(
  account: Account,
  world: GatewayDependencies,
  patienceMs: number,
): Promise<readonly JsonObject[]> {
  const named = listNamedModels(account).map((id) => modelObject(id, account.name))
  if (named.length === account.models.length) return named
  return [...named, ...(await offeredBy(account, world, patienceMs))]
}

/** What the upstream lists itself, as far as this gateway passes it on. */
async function offeredBy(
  account: Account,
  world: GatewayDependencies,
  patienceMs: number,
): Promise<readonly JsonObject[]> {
  try {
    const json = await askedFor(account, world, patienceMs)
    // OpenAI and Anthropic call the list `data`, Gemini `models` with names like `models/x`.
    const list = json['data'] ?? json['models']
    if (!Array.isArray(list)) return []
    return (list as readonly unknown[]).filter(isObject).flatMap((model) => {
      const id = idOf(model)
      const isServed = account.models.some((pattern) => matchesModelPattern(pattern, id))
      return id !== '' && isServed
        ? [{ ...modelObject(id, account.name), ...standard(model), id }]
        : []
    })
  } catch (error) {
    world.log('warn', 'models-not-listed', { upstream: account.name, why: errorMessage(error) })
    return []
  }
}

async function askedFor(
  account: Account,
  { transport }: GatewayDependencies,
  patienceMs: number,
): Promise<JsonObject> {
  const call = transport({
    method: 'GET',
    url: `${account.baseUrl}/models`,
    headers: { ...PROVIDERS[account.wire].createHeaders(account), ...account.headers },
    body: null,
  })
  const patience = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    // To take it back is not enough: a connection that is being made does not hear of it.
    patience.reject(
      new GatewayError('upstream_timeout', 'The upstream took too long to list them.'),
    )
    call.cancel()
  }, patienceMs)
  try {
    const read = call.reply.then((reply) => readJsonBody(call, reply))
    const { json } = await Promise.race([read, patience.promise])
    return json
  } finally {
    clearTimeout(timer)
  }
}

function idOf({ id, name }: JsonObject): string {
  const given = id ?? name
  return typeof given === 'string' ? given.replace(/^models\//, '') : ''
}

function modelObject(id: string, owner: string): JsonObject {
  return { id, object: 'model', created: 0, owned_by: owner }
}

/** The fields that a client of OpenAI knows; anything else may be as large as it likes. */
function standard(model: JsonObject): JsonObject {
  const known = ['created', 'owned_by', 'name', 'context_length', 'max_model_len']
  // Open WebUI leaves out a model with a name of null.
  const isSaid = (key: string): boolean => (model[key] ?? null) !== null
  return Object.fromEntries(known.flatMap((key) => (isSaid(key) ? [[key, model[key]]] : [])))
}

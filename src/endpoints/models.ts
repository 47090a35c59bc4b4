/** `/v1/models`: what the upstreams offer, merged. An upstream that does not answer is left out. */
import { matches, namedModels } from '../upstream/accounts.ts'
import { isObject, type JsonObject } from '../conversation/json.ts'
import { GatewayError } from '../errors.ts'
import type { Account } from '../provider/provider.ts'
import { PROVIDERS } from '../provider/providers.ts'
import { readJson } from '../transport/read-body.ts'
import type { World } from '../world.ts'

export async function listModels(world: World): Promise<JsonObject> {
  const lists = await Promise.all(world.accounts.map((account) => modelsOf(account, world)))
  const seen = new Map(lists.flat().map((model) => [model['id'], model] as const))
  return { object: 'list', data: [...seen.values()] }
}

export async function findModel(id: string, world: World): Promise<JsonObject> {
  const { data } = (await listModels(world)) as { readonly data: readonly JsonObject[] }
  const found = data.find((model) => model['id'] === id)
  if (found !== undefined) return found
  throw new GatewayError('model_not_found', `The model '${id}' does not exist.`, { param: 'model' })
}

async function modelsOf(account: Account, world: World): Promise<readonly JsonObject[]> {
  const named = namedModels(account).map((id) => modelObject(id, account))
  const offered = named.length === account.models.length ? [] : await offeredBy(account, world)
  return [...named, ...offered]
}

/** What the upstream lists itself, as far as this gateway passes it on. */
async function offeredBy(account: Account, world: World): Promise<readonly JsonObject[]> {
  try {
    const call = world.transport({
      method: 'GET',
      url: `${account.baseUrl}/models`,
      headers: { ...PROVIDERS[account.wire].headers(account), ...account.headers },
      body: null,
    })
    const reply = await call.reply
    const { json } = await readJson(call, reply)
    // OpenAI and Anthropic call the list `data`, Gemini `models` with names like `models/x`.
    const list = json['data'] ?? json['models']
    if (!Array.isArray(list)) return []
    return (list as readonly unknown[]).filter(isObject).flatMap((model) => {
      const id = idOf(model)
      const isServed = account.models.some((pattern) => matches(pattern, id))
      return id !== '' && isServed ? [{ ...modelObject(id, account), ...standard(model), id }] : []
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    world.log('warn', 'models-not-listed', { upstream: account.name, why })
    return []
  }
}

function idOf({ id, name }: JsonObject): string {
  const given = id ?? name
  return typeof given === 'string' ? given.replace(/^models\//, '') : ''
}

function modelObject(id: string, account: Account): JsonObject {
  return { id, object: 'model', created: 0, owned_by: account.name }
}

/** The fields that a client of OpenAI knows; anything else may be as large as it likes. */
function standard(model: JsonObject): JsonObject {
  const known = ['created', 'owned_by', 'name', 'context_length', 'max_model_len']
  return Object.fromEntries(known.flatMap((key) => (key in model ? [[key, model[key]]] : [])))
}

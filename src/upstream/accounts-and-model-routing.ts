/** The upstreams that the settings name, and which of them serves a model. */
import { ownValue } from '../core/json/json.ts'
import type { DialectName } from '../core/prompt.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Account } from '../providers/provider-interface.ts'
import type { Settings } from '../settings/read-settings.ts'

export function listAccounts(settings: Settings): readonly Account[] {
  const listed = settings.UPSTREAMS
  // Who lists an upstream by the name of a shortcut has said more of it.
  const short = listShortcutAccounts(settings).filter(
    (one) => !listed.some(({ name }) => name === one.name),
  )
  const accounts = [...listed, ...short]
  return accounts.length > 0 ? accounts : [DEMO_ACCOUNT]
}

/** The upstreams in the order of the settings, and the aliases of models. */
export interface ConfiguredUpstreams {
  readonly accounts: readonly Account[]
  readonly settings: Pick<Settings, 'MODELS'>
}

/** An upstream, and the name that it knows the model by. */
export interface UpstreamTarget {
  readonly account: Account
  readonly model: string
}

/**
 * Whom to ask for a model, in order. An alias stands for one or several models. Otherwise the first
 * account whose patterns match serves, or the one that the model's prefix names: `local/qwen3`.
 */
export function routeModel(
  { accounts, settings }: ConfiguredUpstreams,
  model: string,
  dialect: DialectName,
): readonly [UpstreamTarget, ...UpstreamTarget[]] {
  const aliases = ownValue(settings.MODELS, model) ?? [model]
  const [first, ...others] = aliases.flatMap((name) => findTarget(accounts, name, dialect) ?? [])
  if (first !== undefined) return [first, ...others]
  throw createUnknownModelError(accounts, model, dialect)
}

function findTarget(
  accounts: readonly Account[],
  model: string,
  dialect: DialectName,
): UpstreamTarget | null {
  const slash = model.indexOf('/')
  const [prefix, rest] = [model.slice(0, Math.max(slash, 0)), model.slice(slash + 1)]
  const named = accounts.find((account) => account.name === prefix && servesModel(account, rest))
  if (named !== undefined)
    return { account: preferSameDialect(accounts, named, rest, dialect), model: rest }
  const first = accounts.find((account) => servesModel(account, model))
  return first === undefined
    ? null
    : { account: preferSameDialect(accounts, first, model, dialect), model }
}

/**
 * Where the same service is listed for both of OpenAI's APIs, the client's own language is
 * preferred: nothing needs to be translated then.
 */
function preferSameDialect(
  accounts: readonly Account[],
  first: Account,
  model: string,
  dialect: DialectName,
): Account {
  if (first.wire === dialect) return first
  const other = accounts.find(
    ({ wire, baseUrl, ...account }) =>
      wire === dialect && baseUrl === first.baseUrl && servesModel(account, model),
  )
  return other ?? first
}

/** What to list in `/v1/models` without asking anybody. */
export function listNamedModels(account: Account): readonly string[] {
  return account.models.filter((pattern) => !pattern.includes('*'))
}

function servesModel({ models }: Pick<Account, 'models'>, model: string): boolean {
  return models.some((pattern) => matchesModelPattern(pattern, model))
}

/** `*` stands for any text, several times if need be. */
export function matchesModelPattern(pattern: string, model: string): boolean {
  // Nearly all patterns are not meant, and their beginning tells.
  const star = pattern.indexOf('*')
  if (star > 0 && !model.startsWith(pattern.slice(0, star))) return false
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return pattern === model
  if (!model.startsWith(head) || !model.endsWith(tail)) return false
  let at = head.length
  for (const piece of rest) {
    const found = model.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= model.length - tail.length
}

function createUnknownModelError(
  accounts: readonly Account[],
  model: string,
  dialect: DialectName,
): GatewayError {
  const offered = accounts.flatMap((account) => account.models).join(', ')
  // OpenAI answers 400 here and 404 there, and clients have come to rely on it.
  return dialect === 'responses'
    ? new GatewayError(
        'model_not_found',
        `The requested model '${model}' does not exist. This gateway serves: ${offered}.`,
        { status: 400, param: 'model' },
      )
    : new GatewayError(
        'model_not_found',
        `The model \`${model}\` does not exist or you do not have access to it. This gateway serves: ${offered}.`,
      )
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1'

function listShortcutAccounts(settings: Settings): readonly Account[] {
  const accounts: Account[] = []
  const add = (
    name: string,
    wire: Account['wire'],
    baseUrl: string,
    apiKey: string | null,
    models: readonly string[],
    quirks: Account['quirks'] = {},
  ) => accounts.push({ name, wire, baseUrl, apiKey, models, headers: {}, quirks })

  if (settings.ANTHROPIC_API_KEY !== null || settings.ANTHROPIC_BASE_URL !== null) {
    const url = settings.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com/v1'
    add('anthropic', 'anthropic', url, settings.ANTHROPIC_API_KEY, ['claude-*'])
  }
  if (settings.GEMINI_API_KEY !== null || settings.GEMINI_BASE_URL !== null) {
    const url = settings.GEMINI_BASE_URL ?? 'https://generativelanguage.googleapis.com/v1beta'
    add('gemini', 'gemini', url, settings.GEMINI_API_KEY, ['gemini-*'])
  }
  if (settings.OPENROUTER_API_KEY !== null || settings.OPENROUTER_BASE_URL !== null) {
    const url = settings.OPENROUTER_BASE_URL ?? 'https://openrouter.ai/api/v1'
    // Every model of OpenRouter is named vendor/model.
    add('openrouter', 'chat', url, settings.OPENROUTER_API_KEY, ['*/*'], { profile: 'openrouter' })
  }
  if (settings.OPENAI_BASE_URL !== null) {
    add('openai', 'chat', settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, ['*'])
  } else if (settings.OPENAI_API_KEY !== null) {
    add('openai', 'responses', OPENAI_BASE_URL, settings.OPENAI_API_KEY, ['*'])
    add('openai-chat', 'chat', OPENAI_BASE_URL, settings.OPENAI_API_KEY, ['*'], {
      profile: 'openai',
    })
  }
  return accounts
}

const DEMO_ACCOUNT: Account = {
  name: 'demo',
  wire: 'demo',
  baseUrl: 'demo://built-in',
  apiKey: null,
  models: ['demo'],
  headers: {},
  quirks: {},
}

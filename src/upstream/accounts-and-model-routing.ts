/** Lists the accounts in the settings, and routes a model name to the accounts that serve it. */
import { readOwnValue } from '../core/json/json.ts'
import type { ClientTraits } from '../core/client/client-traits.ts'
import type { DialectName } from '../core/prompt.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Account } from '../providers/provider-interface.ts'
import { isOpenAiReasoningModel } from '../providers/request/openai-reasoning-models.ts'
import type { Settings } from '../settings/read-settings.ts'
import { completeBareHost, completeBaseUrl } from './complete-base-url.ts'

export function listAccounts(settings: Settings): readonly Account[] {
  const listed = settings.UPSTREAMS.map(completeAccount)
  // Settings such as ANTHROPIC_API_KEY add an account. An account of the same name in UPSTREAMS
  // replaces it.
  const shortcuts = listShortcutAccounts(settings).filter(
    (shortcut) => !listed.some(({ name }) => name === shortcut.name),
  )
  const accounts = [...listed, ...shortcuts]
  return accounts.length > 0 ? accounts : [DEMO_ACCOUNT]
}

function completeAccount(account: Account): Account {
  const baseUrl = completeBareHost(account.wire, account.baseUrl)
  return baseUrl === account.baseUrl ? account : { ...account, baseUrl }
}

/**
 * The accounts in the order of the settings, and the setting MODELS with the model aliases.
 */
export interface ConfiguredUpstreams {
  readonly accounts: readonly Account[]
  readonly settings: Pick<Settings, 'MODELS'>
}

/**
 * An account, and the name of the model at this account, e.g. `qwen3` if a client requests
 * `local/qwen3`.
 */
export interface UpstreamTarget {
  readonly account: Account
  readonly model: string
}

/** Who requests a model: the API of the client, and what kind of client it is, if that matters. */
export interface Requester {
  readonly dialect: DialectName
  readonly client?: Pick<ClientTraits, 'isOpenWebUi'> | undefined
}

/**
 * Returns the targets for a model in the order in which they are tried. An alias in MODELS names one
 * or several models. Each model is served by the account that its prefix names (e.g. `local` in
 * `local/qwen3`), otherwise by the first account with a matching pattern.
 */
export function routeModel(
  { accounts, settings }: ConfiguredUpstreams,
  model: string,
  { dialect, client }: Requester,
): readonly [UpstreamTarget, ...UpstreamTarget[]] {
  const aliases = readOwnValue(settings.MODELS, model) ?? [model]
  const requester = { dialect, client }
  const [first, ...others] = aliases.flatMap((name) => findTarget(accounts, name, requester) ?? [])
  if (first !== undefined) return [first, ...others]
  throw createUnknownModelError(accounts, model, dialect)
}

function findTarget(
  accounts: readonly Account[],
  model: string,
  requester: Requester,
): UpstreamTarget | null {
  const slash = model.indexOf('/')
  const [prefix, rest] = [model.slice(0, Math.max(slash, 0)), model.slice(slash + 1)]
  const named = accounts.find((account) => account.name === prefix && servesModel(account, rest))
  const account = named ?? accounts.find((candidate) => servesModel(candidate, model))
  if (account === undefined) return null
  const name = getUpstreamName(account, named === undefined ? model : rest)
  // The client has chosen the API itself if the prefix names an account with its own API.
  const isChosen = named?.wire === requester.dialect
  const wire = isChosen ? requester.dialect : choosePreferredWire(name, requester)
  return { account: preferWire(accounts, account, name, wire), model: name }
}

/** Returns the name without the prefix of Gemini's own names: `models/gemini-3-pro` is `gemini-3-pro`. */
function getUpstreamName({ wire }: Account, model: string): string {
  return wire === 'gemini' ? model.replace(/^models\//, '') : model
}

/**
 * Returns the API over which an upstream with both APIs of OpenAI is asked: the client's own, so that requests
 * need no translation. For Open WebUI, whose answers are always rewritten, the reasoning models of OpenAI are
 * asked over the Responses API: Chat Completions returns no reasoning, neither to keep nor to show.
 */
function choosePreferredWire(model: string, { dialect, client }: Requester): DialectName {
  return client?.isOpenWebUi === true && isOpenAiReasoningModel(model) ? 'responses' : dialect
}

/**
 * Returns an entry of the same upstream with this API, e.g. `openai-chat` instead of `openai` for Chat
 * Completions. Without one, returns `first`.
 */
function preferWire(
  accounts: readonly Account[],
  first: Account,
  model: string,
  wire: DialectName,
): Account {
  if (first.wire === wire) return first
  const other = accounts.find(
    (account) =>
      account.wire === wire && isSameUpstream(account, first) && servesModel(account, model),
  )
  return other ?? first
}

/**
 * True if two accounts are the same upstream with both APIs of OpenAI. An equal address is not enough: a
 * proxy serves several providers at one address, and each key must reach only its own account.
 */
function isSameUpstream(first: Account, second: Account): boolean {
  return (
    isOpenAiWire(first.wire) &&
    isOpenAiWire(second.wire) &&
    first.baseUrl === second.baseUrl &&
    first.apiKey === second.apiKey &&
    JSON.stringify(first.headers) === JSON.stringify(second.headers)
  )
}

function isOpenAiWire(wire: Account['wire']): boolean {
  return wire === 'chat' || wire === 'responses'
}

/**
 * Lists the account's model patterns without `*`: they are model names. `/v1/models` lists these
 * without a request to the upstream.
 */
export function listNamedModels(account: Account): readonly string[] {
  return account.models.filter((pattern) => !pattern.includes('*'))
}

function servesModel(account: Account, model: string): boolean {
  const name = getUpstreamName(account, model)
  return account.models.some(
    (pattern) => matchesModelPattern(pattern, name) || matchesModelPattern(pattern, model),
  )
}

/**
 * True if the model name matches the pattern, in which each `*` matches any text: `gpt-*-mini*` matches
 * `gpt-5-mini-2`.
 */
export function matchesModelPattern(pattern: string, model: string): boolean {
  // Returns early for most patterns, because the text before the first `*` differs.
  const star = pattern.indexOf('*')
  if (star > 0 && !model.startsWith(pattern.slice(0, star))) return false
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return pattern === model
  if (!model.startsWith(head) || !model.endsWith(tail)) return false
  let position = head.length
  for (const piece of rest) {
    const pieceStart = model.indexOf(piece, position)
    if (pieceStart < 0) return false
    position = pieceStart + piece.length
  }
  return position <= model.length - tail.length
}

function createUnknownModelError(
  accounts: readonly Account[],
  model: string,
  dialect: DialectName,
): GatewayError {
  const offered = accounts.flatMap((account) => account.models).join(', ')
  // SDKs rely on OpenAI's statuses: 400 in the Responses API, 404 in Chat Completions.
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
  ) => {
    const url = completeBaseUrl(wire, baseUrl)
    accounts.push({ name, wire, baseUrl: url, apiKey, models, headers: {}, quirks })
  }

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
    // The pattern matches OpenRouter's model names, which are `vendor/model`.
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

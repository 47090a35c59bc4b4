/** Lists all settings with their default, their reader and their description in the README. */
import { WIRE_NAMES, type Account } from '../providers/provider-interface.ts'
import {
  readModelAliases,
  readContextSetting,
  readApiKeys,
  readStorageKeys,
  type ContextSetting,
  type NamedApiKey,
  type StorageKeySetting,
} from './key-alias-and-policy-readers.ts'
import { LIMIT_SETTINGS } from './limit-settings.ts'
import { MEDIA_SETTINGS } from './media-settings.ts'
import { readUpstreams } from './read-upstreams.ts'
import {
  defineChoice,
  readAccountPaths,
  readSpeakerLabels,
  readText,
  defineWholeNumber,
  createWholeNumberReader,
  createWholeNumberOrOffReader,
  nullIfOff,
  type Environment,
} from './scalar-readers.ts'
import { readHeaderValue, readDatabaseUrl, readUrl } from './url-and-header-readers.ts'

export interface Setting<Value> {
  readonly default: Value
  /** Text for the default in the README, if the value alone is not clear, e.g. `unset (everything)`. */
  readonly shownDefault?: string
  readonly description: string
  /**
   * Returns the setting's value. Throws an Error whose message continues the setting's name (`must
   * be …`), or an AggregateError of several.
   */
  readonly read: (raw: unknown, environment: Environment) => Value
}

const NO_CONTEXT: ContextSetting = { all: {}, models: {}, keys: {} }
const NO_ALIASES: Readonly<Record<string, readonly string[]>> = {}

export const SETTINGS_TABLE = {
  PORT: defineWholeNumber(8787, [0, 65_535], 'Port to listen on; `0` takes a free one.'),
  HOST: {
    default: '127.0.0.1',
    read: readText,
    description: 'Address to listen on.',
  },
  DATABASE_URL: {
    default: 'sqlite:./data/backstory.db',
    read: readDatabaseUrl,
    description:
      'Database for everything that is stored: `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. On Workers the D1 binding `DB` is used.',
  },
  BACKSTORY_CONFIG: {
    default: './backstory.json',
    shownDefault: '`./backstory.json` if it exists',
    read: readText,
    description: 'A JSON file with any of these settings; on Workers the JSON itself.',
  },
  BACKSTORY_KEYS: {
    default: [] as readonly NamedApiKey[],
    shownDefault: 'none',
    read: readApiKeys,
    description:
      'API keys of clients, as `name:key,name:key`. Each name has its own separate data. Without keys, only clients on this machine are served.',
  },
  STORAGE_KEYS: {
    default: [] as readonly StorageKeySetting[],
    shownDefault: 'none',
    read: readStorageKeys,
    description:
      'Encrypts stored conversations, as `kid:key,kid:key`: a name of your choice, and 32 bytes as base64 or hex (`openssl rand -base64 32`). The first key encrypts, all keys decrypt. Data whose key is missing cannot be read.',
  },
  STORAGE_PLAIN_TEXT: defineChoice(
    ['auto', 'accept', 'reject'],
    'With `STORAGE_KEYS`: whether stored text is trusted although it is not encrypted, or not bound to its user (as by earlier versions). `auto` trusts it until everything is encrypted, which holds in a new database and after `reseal`; `accept` always; `reject` never.',
  ),
  UPSTREAMS: {
    default: [] as readonly Account[],
    shownDefault: 'none',
    read: readUpstreams,
    description: `Upstreams as a JSON list of \`{"name", "wire": "${WIRE_NAMES.join('\\|')}", "baseUrl", "apiKey", "models": ["*"], "headers", "quirks"}\`. The first upstream whose \`models\` match gets the request. An \`apiKey\` of \`env:NAME\` is read from the environment.`,
  },
  MODELS: {
    default: NO_ALIASES,
    shownDefault: 'none',
    read: readModelAliases,
    description:
      'Your own names for models, as JSON: `{"fast": "gpt-5-mini", "best": ["anthropic/claude-opus-5-5", "gpt-5"]}`, where `anthropic/` names an upstream. If a model of a list cannot be reached, rejects the request or answers without content, the next one gets the request.',
  },
  OPENAI_API_KEY: defineApiKey(
    'Adds OpenAI, with both of its APIs, for all models that no other upstream takes.',
  ),
  OPENAI_BASE_URL: defineUrl(
    'Address of another server with the Chat Completions API, instead of OpenAI.',
  ),
  ANTHROPIC_API_KEY: defineApiKey('Adds Anthropic, for `claude-*`.'),
  ANTHROPIC_BASE_URL: defineUrl(
    'Address of another server with the Anthropic Messages API, with or without `/v1` at its end.',
  ),
  GEMINI_API_KEY: defineApiKey('Adds Google Gemini, for `gemini-*`.'),
  GEMINI_BASE_URL: defineUrl(
    'Address of another server with the Gemini API, with or without `/v1beta` at its end.',
  ),
  OPENROUTER_API_KEY: defineApiKey('Adds OpenRouter, for `vendor/model`.'),
  OPENROUTER_BASE_URL: defineUrl('Address of another server with the API of OpenRouter.'),
  CONTEXT: {
    default: NO_CONTEXT,
    shownDefault: '`retain`',
    read: readContextSetting,
    description:
      'How much of a conversation is sent to the model: the name of a policy, or JSON of [its fields](src/context/README.md#every-field-of-a-policy), with `models` and `keys` for overrides by model and by API key: `{"policy": "lean", "models": {"qwen*": {"window": {"turns": 20}}}, "keys": {"alice": "replay"}}`.',
  },
  HISTORY_MAX_ITEMS: {
    default: null as number | null,
    shownDefault: 'unset (everything)',
    read: createWholeNumberReader(1, 1_000_000),
    description:
      'Maximum number of items of a conversation that are sent to the model. The oldest turns are left out, several at a time.',
  },
  TOOL_OUTPUT_RETENTION_TURNS: {
    default: null as number | 'off' | null,
    shownDefault: 'as the policy says (`0`)',
    read: createWholeNumberOrOffReader(0, 1_000_000),
    description:
      'The number of latest turns whose tool outputs stay complete; long outputs of older turns are shortened, several turns at a time, where that saves costs. With `3`, at least the outputs of the last 3 turns are complete. `off` shortens none.',
  },
  UNANSWERED_CALLS: defineChoice(
    ['drop', 'stub'],
    'A tool call in the middle of a conversation without an output is left out (`drop`), or gets a placeholder output (`stub`).',
  ),
  REMEMBER: defineChoice(
    ['on', 'off'],
    'For clients that send the complete chat each time: whether the reasoning and tool calls that they leave out are stored, and sent to the model again.',
  ),
  MARKERS: defineChoice(
    ['auto', 'always', 'never'],
    'Which answers get a marker in their text, by which the gateway recognizes them in later requests: those for an Open WebUI whose headers do not name its messages, if nothing else names the answer (`auto`), all (`always`), none (`never`, which also leaves out the reference beside reasoning). Other answers are recognized by the ids of messages, by their calls or by their text.',
  ),
  DELETIONS: defineChoice(
    ['respected', 'undone'],
    'Whether a tool call or thought that a user has deleted from an answer in Open WebUI stays deleted for the model, too (`respected`), or is restored like everything else that a client leaves out (`undone`).',
  ),
  REASONING_SUMMARY: defineChoice(
    ['auto', 'concise', 'detailed', 'off'],
    'The summary of its reasoning that a model of OpenAI is asked for, so that Open WebUI can show it. A request that sets `reasoning.summary` itself keeps its own value. If the upstream rejects the summary, e.g. because OpenAI has not verified the organization, the request is sent again without it, and that is remembered for a day.',
  ),
  PERSIST_REASONING: defineChoice(
    ['conversation', 'disabled', 'next_reply'],
    'How long reasoning is sent back to the model that wrote it: during the complete `conversation`, or until the `next_reply` is complete. With `disabled` no new reasoning is stored, except in the event log of a background response.',
  ),
  PERSIST_TOOL_RESULTS: defineChoice(
    ['on', 'off'],
    'Whether tool calls and outputs that a client leaves out are sent to the model again.',
  ),
  RETENTION_DAYS: {
    default: 90,
    read: (raw: unknown) => nullIfOff(createWholeNumberOrOffReader(1, 36_500)(raw)),
    description:
      'Turns that have not been used for this many days are deleted, unless they belong to a stored conversation; `off` never deletes them.',
  },
  OPEN_WEBUI_JWT_SECRET: {
    default: null as string | null,
    shownDefault: '–',
    read: readText,
    description:
      'The `FORWARD_USER_INFO_HEADER_JWT_SECRET` of your Open WebUI. Each of its users then has their own separate data, and chat and Responses requests without a signature are rejected.',
  },
  TRUST_USER_HEADERS: defineChoice(
    ['off', 'on'],
    'Whether the headers `X-Backstory-User` and `X-OpenWebUI-User-Id` are accepted without a signature. Turn it on only if no other than trusted clients can reach the gateway.',
  ),
  ACCOUNT_PATHS: {
    default: 'auto' as const,
    read: readAccountPaths,
    description:
      'Which API keys may use paths of the upstream that belong to its account, such as files, batches, vector stores and fine-tuning: names of `BACKSTORY_KEYS`, as `ada,grace`, or `off`. With `auto`, the only key may, if there is just one and no users, but never administrative paths. All clients may use paths that only call a model, such as embeddings.',
  },
  SPEAKER_GUARD: {
    default: 'off' as const,
    read: readSpeakerLabels,
    description:
      "Ends an answer before a line in which the model starts to write for another speaker, e.g. `User: …`: `off`, `on`, or the labels of the model itself, which do not end the answer, e.g. `Ada,Ada (bot)`. The first line of a text always stays. An upstream's `quirks.speakerGuard` takes precedence.",
  },
  EXPLAIN_KEEP: defineChoice(
    ['on', 'off'],
    'Whether the request that was sent to the upstream is stored with the answer, for `GET /v1/context/explain/{id}`.',
  ),
  UNSUPPORTED: defineChoice(
    ['note', 'reject'],
    'What happens to a parameter that the API of the upstream does not have: `note` leaves it out and lists it in `explain`, `reject` returns an error (400). The header `x-backstory-unsupported` takes precedence.',
  ),
  MAX_BODY_MB: {
    ...defineWholeNumber(32, [1, 1024], 'Maximum size of a request body, in megabytes.'),
    shownDefault: '`32`; on Workers `9`',
  },
  MAX_BODY_ITEMS: defineWholeNumber(
    10_000,
    [1, 1_000_000],
    'Maximum length of a list that is a field of a request body, such as `messages`, `input` or `tools`.',
  ),
  MAX_BODY_VALUES: defineWholeNumber(
    100_000,
    [1, 100_000_000],
    'Maximum number of JSON values in a request body, at all levels together.',
  ),
  REQUEST_MEMORY_MB: {
    default: null as number | null,
    shownDefault: 'half of the maximum heap; on Workers `48`',
    read: createWholeNumberReader(1, 1_000_000),
    description:
      'Memory, in megabytes, that all large requests in progress may take together, estimated from their bodies and their loaded histories. If there are several API keys, one may take half of it. Further requests get an error with `retry-after`: 503, or 429 for one key. On Workers, each request is limited alone: one that needs more gets 503, and the sum of all requests is not limited.',
  },
  CACHE_MB: {
    default: null as number | null,
    shownDefault: '`96`; on Workers `16`',
    read: createWholeNumberReader(1, 1_000_000),
    description:
      'Memory, in megabytes, for caches of stored data, all together: turns of chats that clients send again, the latest requests to upstreams, and pages of a SQLite file.',
  },
  ...LIMIT_SETTINGS,
  UPSTREAM_HEADERS_TIMEOUT_SECONDS: defineWholeNumber(
    300,
    [1, 86_400],
    'How long the gateway waits for an upstream to start its answer.',
  ),
  UPSTREAM_IDLE_TIMEOUT_SECONDS: defineWholeNumber(
    300,
    [1, 86_400],
    'How long an upstream may send nothing in the middle of its answer.',
  ),
  SUMMARY_TIMEOUT_SECONDS: defineWholeNumber(
    120,
    [1, 86_400],
    'How long a request that is too long for its model waits for a summary. Then it is sent without one.',
  ),
  DRAIN_SECONDS: defineWholeNumber(
    10,
    [0, 3_600],
    'How long open streams and background responses may continue after the process gets a signal to stop. Then they end as failed.',
  ),
  RUN_LEASE_SECONDS: defineWholeNumber(
    30,
    [1, 3_600],
    'How long a process may give no sign of life before other processes on the same database take over its background responses, end its other open answers, and unlock its conversations.',
  ),
  HEARTBEAT_SECONDS: defineWholeNumber(
    15,
    [1, 3_600],
    'Interval at which a stream without events gets a comment, and a WebSocket a ping, so that no proxy closes them.',
  ),
  ...MEDIA_SETTINGS,
  WEBSOCKET_MINUTES: defineWholeNumber(
    60,
    [1, 1_440],
    'How long a WebSocket may stay open. Answers in progress are finished; then the client has to open a new one.',
  ),
} satisfies Record<string, Setting<unknown>>

function defineApiKey(description: string): Setting<string | null> {
  return { default: null, shownDefault: '–', read: readHeaderValue, description }
}

function defineUrl(description: string): Setting<string | null> {
  return { default: null, shownDefault: '–', read: readUrl, description }
}

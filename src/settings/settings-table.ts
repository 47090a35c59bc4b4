/** Every setting: its default, what may be written there, and a sentence for the README. */
import { MEDIA_SETTINGS } from './media-settings.ts'
import { WIRE_NAMES } from '../providers/provider-interface.ts'
import type { Account } from '../providers/provider-interface.ts'
import { readHeaderValue } from './header-readers.ts'
import {
  choiceReader,
  readSpeakerLabels,
  readText,
  wholeNumberReader,
  wholeNumberOrOffReader,
  type Environment,
} from './scalar-readers.ts'
import {
  readModelAliases,
  readDatabaseUrl,
  readContextSetting,
  readApiKeys,
  readStorageKeys,
  readUrl,
  type ContextSetting,
  type NamedApiKey,
  type StorageKeySetting,
} from './structured-readers.ts'
import { readUpstreams } from './read-upstreams.ts'

export interface Setting<Value> {
  readonly default: Value
  /** How the default is shown to people, where the value itself would say little. */
  readonly shown?: string
  readonly sentence: string
  /** Throws an Error whose message completes "NAME …", or several together. */
  readonly read: (raw: unknown, environment: Environment) => Value
}

const NO_CONTEXT: ContextSetting = { all: {}, models: {}, keys: {} }
const NO_ALIASES: Readonly<Record<string, readonly string[]>> = {}

export const SETTINGS_TABLE = {
  PORT: {
    default: 8787,
    read: wholeNumberReader(0, 65_535),
    sentence: 'Port to listen on; `0` takes a free one.',
  },
  HOST: {
    default: '127.0.0.1',
    read: readText,
    sentence: 'Address to listen on.',
  },
  DATABASE_URL: {
    default: 'sqlite:./data/backstory.db',
    read: readDatabaseUrl,
    sentence:
      'Where everything is kept: `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. On Workers the D1 binding `DB` is used.',
  },
  BACKSTORY_CONFIG: {
    default: './backstory.json',
    shown: '`./backstory.json` if it exists',
    read: readText,
    sentence: 'A JSON file with any of these settings; on Workers the JSON itself.',
  },
  BACKSTORY_KEYS: {
    default: [] as readonly NamedApiKey[],
    shown: 'none',
    read: readApiKeys,
    sentence:
      'Keys of clients, as `name:key,name:key`; each name has a memory of its own. Without keys only this machine is served.',
  },
  STORAGE_KEYS: {
    default: [] as readonly StorageKeySetting[],
    shown: 'none',
    read: readStorageKeys,
    sentence:
      'Encrypts what is stored of conversations, as `kid:key,kid:key`: a name of your own, and 32 bytes as base64 or hex (`openssl rand -base64 32`). The first encrypts, all decrypt. Without its key nothing encrypted can be read.',
  },
  UPSTREAMS: {
    default: [] as readonly Account[],
    shown: 'none',
    read: readUpstreams,
    sentence: `Upstreams as a JSON list of \`{"name", "wire": "${WIRE_NAMES.join('\\|')}", "baseUrl", "apiKey", "models": ["*"], "headers", "quirks"}\`. The first whose \`models\` match serves. An \`apiKey\` of \`env:NAME\` is read from the environment.`,
  },
  MODELS: {
    default: NO_ALIASES,
    shown: 'none',
    read: readModelAliases,
    sentence:
      'Your own names for models, as JSON: `{"fast": "gpt-5-mini", "best": ["anthropic/claude-opus-5-5", "gpt-5"]}`, where `anthropic/` names an upstream. Of a list, the next is asked if one does not begin to answer.',
  },
  OPENAI_API_KEY: apiKey('Adds OpenAI, with both of its APIs, for all other models.'),
  OPENAI_BASE_URL: address('Another server that speaks Chat Completions, in place of OpenAI.'),
  ANTHROPIC_API_KEY: apiKey('Adds Anthropic, for `claude-*`.'),
  ANTHROPIC_BASE_URL: address('Another server that speaks Anthropic Messages.'),
  GEMINI_API_KEY: apiKey('Adds Google Gemini, for `gemini-*`.'),
  GEMINI_BASE_URL: address('Another server that speaks the Gemini API.'),
  OPENROUTER_API_KEY: apiKey('Adds OpenRouter, for `vendor/model`.'),
  OPENROUTER_BASE_URL: address('Another server that speaks as OpenRouter does.'),
  CONTEXT: {
    default: NO_CONTEXT,
    shown: '`retain`',
    read: readContextSetting,
    sentence:
      'How much of a conversation a model is given: the name of a policy, or JSON of [its fields](src/context/README.md#every-field-of-a-policy), with `models` and `keys` for single ones: `{"policy": "lean", "models": {"qwen*": {"window": {"turns": 20}}}, "keys": {"alice": "replay"}}`.',
  },
  HISTORY_MAX_ITEMS: {
    default: null as number | null,
    shown: 'unset (everything)',
    read: wholeNumberReader(1, 1_000_000),
    sentence:
      'At most so many items of a conversation reach the model; the oldest turns go, several at a time.',
  },
  TOOL_OUTPUT_RETENTION_TURNS: {
    default: null as number | 'off' | null,
    shown: 'as the policy says (`5`)',
    read: wholeNumberOrOffReader(0, 1_000_000),
    sentence:
      'Long tool outputs are shortened once they are more than so many turns old, as many turns at a time, at most ten; `off` keeps them whole.',
  },
  UNANSWERED_CALLS: {
    default: 'drop' as const,
    read: choiceReader('drop', 'stub'),
    sentence:
      'A tool call in the middle of a conversation that never got its output is left out (`drop`), or gets one that says so (`stub`).',
  },
  REMEMBER: {
    default: 'on' as const,
    read: choiceReader('on', 'off'),
    sentence:
      'For clients that send the whole chat each time: whether the reasoning and tool calls that they leave out are kept, and given back to the model.',
  },
  MARKERS: {
    default: 'auto' as const,
    read: choiceReader('auto', 'always', 'never'),
    sentence:
      'Whose answers carry an invisible marker, by which they are recognised at once: those of Open WebUI (`auto`), all (`always`), none (`never`). Others are recognised by their words.',
  },
  PERSIST_REASONING: {
    default: 'conversation' as const,
    read: choiceReader('disabled', 'next_reply', 'conversation'),
    sentence:
      'How long reasoning is given back to the model that made it: through the `conversation`, or until the `next_reply` is complete; with `disabled` no new reasoning is kept, except in streams that can be read again.',
  },
  PERSIST_TOOL_RESULTS: {
    default: 'on' as const,
    read: choiceReader('on', 'off'),
    sentence:
      'Whether tool calls and results that a client has forgotten are given back to the model.',
  },
  RETENTION_DAYS: {
    default: 90,
    read: (raw: unknown) => nullIfOff(wholeNumberOrOffReader(1, 36_500)(raw)),
    sentence:
      'Turns that nothing has needed for so many days are deleted, unless a conversation holds them; `off` keeps them.',
  },
  OPEN_WEBUI_JWT_SECRET: secret(
    'The `FORWARD_USER_INFO_HEADER_JWT_SECRET` of your Open WebUI. Each of its users then has a memory of their own, and unsigned chat and Responses requests are refused.',
  ),
  TRUST_USER_HEADERS: {
    default: 'off' as const,
    read: choiceReader('off', 'on'),
    sentence:
      'Whether `X-Backstory-User` and `X-OpenWebUI-User-Id` are believed without a signature. Only where none but trusted clients reach the gateway.',
  },
  SPEAKER_GUARD: {
    default: 'off' as const,
    read: readSpeakerLabels,
    sentence:
      "Ends an answer before a line in which another speaker begins, as `User: …`: `off`, `on`, or the model's own labels, as `Ada,Ada (bot)`. An upstream's `quirks.speakerGuard` goes first.",
  },
  EXPLAIN_KEEP: {
    default: 'on' as const,
    read: choiceReader('on', 'off'),
    sentence:
      'Whether what was sent for an answer is kept with it, for `GET /v1/context/explain/{id}`.',
  },
  UNSUPPORTED: {
    default: 'note' as const,
    read: choiceReader('note', 'reject'),
    sentence:
      'If a request asks for something that its upstream cannot express, `note` leaves it out and says so in `explain`, `reject` answers 400. The header `x-backstory-unsupported` overrides it.',
  },
  MAX_BODY_MB: {
    default: 64,
    read: wholeNumberReader(1, 1024),
    sentence: 'Largest request body, in megabytes.',
  },
  UPSTREAM_HEADERS_TIMEOUT_SECONDS: {
    default: 300,
    read: wholeNumberReader(1, 86_400),
    sentence: 'How long an upstream may take to begin its answer.',
  },
  UPSTREAM_IDLE_TIMEOUT_SECONDS: {
    default: 300,
    read: wholeNumberReader(1, 86_400),
    sentence: 'How long an upstream may be silent in the middle of its answer.',
  },
  SUMMARY_TIMEOUT_SECONDS: {
    default: 120,
    read: wholeNumberReader(1, 86_400),
    sentence:
      'How long a request that is too long for its model waits for a summary before it goes on without.',
  },
  DRAIN_SECONDS: {
    default: 10,
    read: wholeNumberReader(0, 3_600),
    sentence:
      'How long open streams and background responses may go on after a signal to stop. Then they end as failed.',
  },
  RUN_LEASE_SECONDS: {
    default: 30,
    read: wholeNumberReader(1, 3_600),
    sentence:
      'How long a process may be silent before others on the same database take over its background responses, and end what else it left open.',
  },
  HEARTBEAT_SECONDS: {
    default: 15,
    read: wholeNumberReader(1, 3_600),
    sentence: 'How often a silent stream gets a comment, so that no proxy closes it.',
  },
  ...MEDIA_SETTINGS,
  WEBSOCKET_MINUTES: {
    default: 60,
    read: wholeNumberReader(1, 1_440),
    sentence:
      'How long a WebSocket may stay open. What it has begun is finished; then the client opens a new one.',
  },
} satisfies Record<string, Setting<unknown>>

function secret(sentence: string): Setting<string | null> {
  return { default: null, shown: '–', read: readText, sentence }
}

function apiKey(sentence: string): Setting<string | null> {
  return { ...secret(sentence), read: readHeaderValue }
}

function address(sentence: string): Setting<string | null> {
  return { default: null, shown: '–', read: readUrl, sentence }
}

function nullIfOff(days: number | 'off'): number | null {
  return days === 'off' ? null : days
}

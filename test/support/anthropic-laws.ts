/**
 * Rules of the Messages API: returns the error that it would send for a request. Written from its
 * documentation and error messages, independently of the gateway's encoder and its tables of models.
 */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'
import { isBlank, objects, read, type Law } from './anthropic-request.ts'
import { COMPACTION_LAWS, mayBegin } from './anthropic-compaction-laws.ts'
import { isThought, THINKING_LAWS } from './anthropic-thinking-laws.ts'

/** Returns the error body that the provider would send; null for a valid request. */
export function findAnthropicRefusal(body: JsonObject): JsonObject | null {
  const [message] = findAnthropicFaults(body)
  if (message === undefined) return null
  return {
    type: 'error',
    error: { type: 'invalid_request_error', message },
    request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  }
}

/** Returns a message for every violation in a request. */
export function findAnthropicFaults(body: JsonObject): readonly string[] {
  const request = read(body)
  return LAWS.flatMap((law) => law(request))
}

const FIELDS = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'context_management',
  'stream',
])

const fields: Law = ({ body }) => {
  const strangers = Object.keys(body).filter((field) => !FIELDS.has(field))
  const undefineds = Object.keys(body).filter((field) => body[field] === undefined)
  return [
    ...strangers.map((field) => `${field}: Extra inputs are not permitted`),
    ...undefineds.map((field) => `${field}: Input should be set`),
    ...(isCount(body['max_tokens']) ? [] : ['max_tokens: Field required']),
  ]
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}

const roles: Law = (request) => {
  const { messages } = request
  const isLed = mayBegin(request)
  if (messages.length === 0) return ['messages: at least one message is required']
  return messages.flatMap(({ role, content }, at) => {
    const expected = (at % 2 === 0) === isLed ? 'assistant' : 'user'
    return [
      ...(role === expected ? [] : [`messages.${at}: roles must alternate and start with "user"`]),
      ...(content.length > 0 ? [] : [`messages.${at}: all messages must have non-empty content`]),
    ]
  })
}

const texts: Law = ({ messages, system }) => [
  ...system
    .filter(({ text }) => isBlank(text))
    .map(() => 'system: text content blocks must be non-empty'),
  ...messages.flatMap(({ content }) => {
    const said = content.filter(({ type }) => type === 'text')
    if (said.some(({ text }) => text === ''))
      return ['messages: text content blocks must be non-empty']
    return said.length > 0 && said.every(({ text }) => isBlank(text))
      ? ['messages: text content blocks must contain non-whitespace text']
      : []
  }),
  ...messages
    .flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
    .flatMap(({ content }) => objects(content))
    .filter(({ type, text }) => type === 'text' && text === '')
    .map(() => 'messages: text content blocks must be non-empty'),
]

const calls: Law = ({ messages, tools }) => {
  const seen = new Set<Json | undefined>()
  return messages.flatMap(({ role, content }, at) => {
    const uses = content.filter(({ type }) => type === 'tool_use')
    const next = messages[at + 1]?.content ?? []
    const results = next.slice(0, uses.length)
    const open = uses.filter(({ id }) => !results.some((result) => result['tool_use_id'] === id))
    const repeated = uses.filter(({ id }) => seen.has(id))
    for (const { id } of uses) seen.add(id)
    return [
      ...open.map(
        ({ id }) =>
          `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${String(id)}`,
      ),
      ...repeated.map(() => `messages.${at}: \`tool_use\` ids must be unique`),
      ...uses
        .filter((use) => !isLawfulUse(use))
        .map((use) => `messages.${at}: bad tool_use ${String(use['id'])}`),
      ...(uses.length > 0 && role !== 'assistant'
        ? [`messages.${at}: tool_use in a user message`]
        : []),
      ...(uses.length > 0 && tools.length === 0
        ? ['Requests which include `tool_use` or `tool_result` blocks must define tools']
        : []),
    ]
  })
}

function isLawfulUse({ id, name, input }: JsonObject): boolean {
  return (
    /^[a-zA-Z0-9_-]{1,64}$/.test(String(id)) &&
    /^[a-zA-Z0-9_-]{1,128}$/.test(String(name)) &&
    isObject(input)
  )
}

const results: Law = ({ messages }) =>
  messages.flatMap(({ content }, at) => {
    const before = messages[at - 1]?.content ?? []
    const uses = new Set(before.filter(({ type }) => type === 'tool_use').map(({ id }) => id))
    const answered = content
      .filter(({ type }) => type === 'tool_result')
      .map((block) => block['tool_use_id'])
    const strangers = answered.filter((id) => !uses.has(id))
    return [
      ...strangers.map(
        (id) =>
          `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(id)}`,
      ),
      ...(new Set(answered).size < answered.length
        ? [`messages.${at}: each tool_use must have a single result`]
        : []),
    ]
  })

const MEDIA_TYPES: Readonly<Record<string, readonly string[]>> = {
  image: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'],
  document: ['application/pdf', 'text/plain'],
}

const media: Law = ({ messages }) =>
  messages.flatMap(({ role, content }, at) => {
    const nested = content.flatMap((block) => objects(block['content']))
    return [...content, ...nested]
      .filter(({ type }) => type === 'image' || type === 'document')
      .flatMap(({ type, source }) => {
        if (role !== 'user')
          return [`messages.${at}: ${String(type)} blocks are only allowed in user messages`]
        const { type: kind, media_type: mediaType } = isObject(source) ? source : {}
        const lawful = MEDIA_TYPES[String(type)] ?? []
        return kind === 'url' || lawful.includes(String(mediaType))
          ? []
          : [`messages.${at}: bad source of ${String(type)}`]
      })
  })

const definitions: Law = ({ tools }) => {
  const names = tools.map(({ name }) => name)
  const own = tools.filter(({ type }) => type === undefined)
  return [
    ...(new Set(names).size < names.length ? ['tools: Tool names must be unique.'] : []),
    ...own
      .filter(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)))
      .map(({ name }) => `tools.${String(name)}: String should match pattern`),
    ...own.flatMap(({ name, input_schema: schema }) => {
      if (!isObject(schema) || schema['type'] !== 'object')
        return [`tools.${String(name)}: Field required`]
      const union = ['anyOf', 'oneOf', 'allOf'].filter((word) => word in schema)
      return union.map(
        () => 'input_schema does not support oneOf, allOf, or anyOf at the top level',
      )
    }),
  ]
}

const serverTools: Law = ({ messages }) => {
  const answered = new Set(
    messages.flatMap(({ content }) => content.map((block) => block['tool_use_id'])),
  )
  return messages.flatMap(({ content }, at) => {
    const next = messages[at + 1]?.content[0]
    if (next === undefined || next['type'] === 'tool_result') return []
    return content
      .filter(({ type, id }) => type === 'server_tool_use' && !answered.has(id))
      .map(
        ({ name, id }) =>
          `messages.${at}: \`${String(name)}\` tool use with id \`${String(id)}\` was found without a result`,
      )
  })
}

const caching: Law = ({ messages, tools, system }) => {
  const blocks = messages.flatMap(({ content }) => content)
  const marked = [...tools, ...system, ...blocks].filter(
    (block) => block['cache_control'] !== undefined,
  )
  return [
    ...(marked.length > 4
      ? [`A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`]
      : []),
    ...marked.filter(isThought).map(() => 'thinking: cache_control cannot be set'),
    ...marked
      .filter(({ type, text }) => type === 'text' && isBlank(text))
      .map(() => 'cache_control cannot be set for empty text blocks'),
  ]
}

const rest: Law = ({ body }) => {
  const { user_id: userId } = isObject(body['metadata']) ? body['metadata'] : {}
  const stops = Array.isArray(body['stop_sequences'])
    ? (body['stop_sequences'] as readonly Json[])
    : []
  return [
    ...(stops.some((stop) => isBlank(stop))
      ? ['stop_sequences: each must contain non-whitespace']
      : []),
    ...(typeof userId === 'string' && userId.length > 256
      ? ['metadata.user_id: String should have at most 256 characters']
      : []),
  ]
}

const LAWS: readonly Law[] = [
  fields,
  roles,
  texts,
  calls,
  results,
  media,
  definitions,
  serverTools,
  caching,
  rest,
  ...THINKING_LAWS,
  ...COMPACTION_LAWS,
]

/** Rules of the Messages API for thinking and the parameters that depend on it, by model. */
import { isObject, type JsonObject } from '../../src/core/json/json.ts'
import type { Law, Request } from './anthropic-request.ts'

const thinkingBlocks: Law = ({ messages }) =>
  messages.flatMap(({ role, content }, at) => {
    const unsigned = content.filter(
      ({ type, signature, data }) =>
        (type === 'thinking' && (typeof signature !== 'string' || signature === '')) ||
        (type === 'redacted_thinking' && typeof data !== 'string'),
    )
    const last = content.at(-1)
    return [
      ...unsigned.map(() => `messages.${at}: Invalid \`signature\` in \`thinking\` block`),
      ...(last !== undefined && isThought(last)
        ? [`messages.${at}: The final block in an assistant message cannot be \`thinking\`.`]
        : []),
      ...(role === 'user' && content.some(isThought) ? [`messages.${at}: thinking of a user`] : []),
    ]
  })

export function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Returns the first assistant message after the user's last text, if its tool loop is still open. */
function openTurn({ messages }: Request): readonly JsonObject[] | null {
  const isReply = ({ type }: JsonObject) => type === 'tool_result'
  const last = messages.at(-1)
  if (last === undefined || (last.role === 'user' && !last.content.some(isReply))) return null
  const spoke = messages
    .slice(0, -1)
    .findLastIndex(({ role, content }) => role === 'user' && !content.every(isReply))
  return messages[spoke + 1]?.content ?? null
}

const thinkingMode: Law = (request) => {
  const { body, model, thinking } = request
  const { budget_tokens: budget } = isObject(body['thinking']) ? body['thinking'] : {}
  const words = thinkingWords(model)
  const first = openTurn(request)?.[0]
  return [
    ...(words.includes(thinking) || thinking === 'unsaid'
      ? []
      : [`"thinking.type.${thinking}" is not supported for this model.`]),
    ...(thinking === 'enabled' && !(Number(budget) >= 1024)
      ? ['thinking.enabled.budget_tokens: Input should be greater than or equal to 1024']
      : []),
    ...(thinking === 'enabled' && Number(body['max_tokens']) <= Number(budget)
      ? ['`max_tokens` must be greater than `thinking.budget_tokens`']
      : []),
    ...(thinking === 'enabled' && first !== undefined && !isThought(first)
      ? ['Expected `thinking` or `redacted_thinking`, but found `tool_use`']
      : []),
    ...(!mayThink(request) && first !== undefined && isThought(first)
      ? [
          'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`',
        ]
      : []),
  ]
}

function thinkingWords(model: string): readonly string[] {
  if (!model.startsWith('claude-')) return []
  if (/claude-3-(5|opus|haiku)/.test(model)) return []
  if (/claude-(3-7|sonnet-4-[05]|opus-4-[015]|haiku-4-5)/.test(model))
    return ['enabled', 'disabled']
  if (/claude-(fable|mythos|opus-5-5)/.test(model)) return ['adaptive']
  if (model.includes('sonnet-5-5')) return ['adaptive', 'between_tools']
  return /4-6/.test(model) ? ['adaptive', 'enabled', 'disabled'] : ['adaptive', 'disabled']
}

function mayThink({ model, thinking }: Request): boolean {
  if (thinking === 'adaptive' || thinking === 'enabled') return true
  // Models of the fifth generation think by default; unknown models of other services are allowed to.
  return thinking === 'unsaid' && (/claude-[a-z]+-5/.test(model) || !model.startsWith('claude-'))
}

const choice: Law = (request) => {
  const { body, model, tools, thinking } = request
  const { type, name } = isObject(body['tool_choice']) ? body['tool_choice'] : {}
  if (type === undefined) return []
  const isForced = type === 'any' || type === 'tool'
  const isThinking =
    thinking === 'enabled' || (thinking === 'adaptive' && !model.includes('fable-5'))
  return [
    ...(tools.length > 0 ? [] : ['tool_choice may only be specified while providing tools']),
    ...(type === 'tool' && !tools.some((tool) => tool['name'] === name)
      ? [`tool_choice: Tool '${String(name)}' not found in provided tools`]
      : []),
    ...(isForced && isThinking
      ? ['Thinking may not be enabled when tool_choice forces tool use.']
      : []),
    ...(isForced && /-5-[15]/.test(model) ? ['tool_choice: forced tool use is not supported'] : []),
  ]
}

const sampling: Law = ({ body, model, thinking }) => {
  const { temperature, top_p: topP, top_k: topK } = body
  const set = [temperature, topP, topK].filter((value) => value !== undefined)
  const isThinking = thinking === 'enabled' || thinking === 'adaptive'
  return [
    ...(temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1)
      ? ['temperature: range: 0..1']
      : []),
    ...(model.startsWith('claude-') && temperature !== undefined && topP !== undefined
      ? ['`temperature` and `top_p` cannot both be specified for this model.']
      : []),
    ...(isThinking && set.length > 0
      ? ['`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.']
      : []),
    ...(/claude-(opus-4-[78]|[a-z]+-5)/.test(model) && set.length > 0
      ? ['`temperature` is deprecated for this model']
      : []),
  ]
}

const ending: Law = ({ messages, model, thinking, body }) => {
  const last = messages.at(-1)
  if (last === undefined || last.role !== 'assistant') return []
  const answered = new Set(last.content.map((block) => block['tool_use_id']))
  const isPaused = last.content.some(
    ({ type, id }) => type === 'server_tool_use' && !answered.has(id),
  )
  if (isPaused) return []
  const text = last.content.at(-1)?.['text']
  const refuses = /claude-([a-z]+-4-[678]|[a-z]+-5)/.test(model)
  const isThinking = thinking === 'enabled' || thinking === 'adaptive'
  const { format } = isObject(body['output_config']) ? body['output_config'] : {}
  return [
    ...(refuses || isThinking || format !== undefined
      ? [
          'This model does not support assistant message prefill. The conversation must end with a user message.',
        ]
      : []),
    ...(typeof text === 'string' && text !== text.trimEnd()
      ? ['messages: final assistant content cannot end with trailing whitespace']
      : []),
  ]
}

export const THINKING_LAWS: readonly Law[] = [
  thinkingBlocks,
  thinkingMode,
  choice,
  sampling,
  ending,
]

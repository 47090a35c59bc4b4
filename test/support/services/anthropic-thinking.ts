/** Signs thinking as the Messages API does, and checks the thinking that is sent back. */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { readMessages } from '../anthropic-compaction-laws.ts'
import { objects, type IssuedSeals } from './service.ts'

export function signatureFaults(body: JsonObject, issued: IssuedSeals): readonly string[] {
  return objects(body['messages']).flatMap(({ content }, message) =>
    objects(content).flatMap(({ type, thinking, signature }, at) =>
      type !== 'thinking' || issued.find(signature) === thinking
        ? []
        : [`messages.${message}.content.${at}: Invalid \`signature\` in \`thinking\` block`],
    ),
  )
}

/** Stores the thinking under the ids of its calls, and its prefix under its signature. */
export function rememberIssuedThinking(
  content: readonly JsonObject[],
  body: JsonObject,
  account: string,
  issued: IssuedSeals,
): void {
  const thinking = thoughtsIn(content)
  for (const [at, { type, id, signature }] of content.entries()) {
    if (type === 'tool_use') issued.register(String(id), thinking)
    if (type !== 'thinking') continue
    const before = prefixOf(body, Infinity, content.slice(0, at))
    issued.register(`made ${String(signature)}`, { model: body['model'], account, before })
  }
}

/** Skips thinking that the model cannot read; other thinking must be in its original position. */
export function bindingFaults(
  body: JsonObject,
  account: string,
  issued: IssuedSeals,
): readonly string[] {
  const model = String(body['model'])
  return objects(body['messages']).flatMap(({ content }, message) =>
    objects(content).flatMap(({ type, signature }, at) => {
      const made = issued.find(`made ${String(signature)}`)
      if (type !== 'thinking' || !isObject(made)) return []
      const place = `messages.${message}.content.${at}`
      if (!reads(model, String(made['model']))) {
        issued.dropped.push(place)
        return []
      }
      const before = prefixOf(body, message, objects(content).slice(0, at))
      const isMoved = isPreserved(model) && made['before'] !== before
      const isElsewhere = /-(sonnet|haiku)-5-5/.test(model) && made['account'] !== account
      return isMoved || isElsewhere
        ? [
            `${place}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different ${isMoved ? 'conversation' : 'account'}.`,
          ]
        : []
    }),
  )
}

/** True for the latest models, which bind thinking to its complete prefix. */
function isPreserved(model: string): boolean {
  return /claude-[a-z]+-5-[1-9]/.test(model)
}

/**
 * True if `model` can read the thinking of `maker`; that of the latest models is readable only by themselves.
 */
function reads(model: string, maker: string): boolean {
  if (model === maker || !(isPreserved(model) || isPreserved(maker))) return true
  return model.includes('fable-5-1') && /opus-5(-5)?$/.test(maker)
}

/** Ignores cache marks and the messages that a compaction replaces. */
function prefixOf(body: JsonObject, end: number, blocks: readonly JsonObject[]): string {
  const { system, tools } = body
  const said = [...messagesIn(body).slice(0, end), { role: 'assistant', content: blocks }]
  const before = [system, tools, readMessages(said)]
  return JSON.stringify(before, (name, value: unknown) =>
    name === 'cache_control' ? undefined : value,
  )
}

export function messagesIn({ messages }: JsonObject) {
  return objects(messages).map(({ role, content }) => ({ role, content: objects(content) }))
}

/** Within the running turn, thinking must be sent back completely and unchanged, or not at all. */
export function changedThinking(body: JsonObject, issued: IssuedSeals): readonly string[] {
  const messages = objects(body['messages'])
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const content = objects(messages[at]?.['content'])
  const thoughts = thoughtsIn(content)
  const calls = content.filter(({ type }) => type === 'tool_use')
  const isRunning = at === messages.length - 2
  if (!isRunning || calls.length === 0) return []
  const given = calls.map(({ id }) => issued.find(String(id))).filter((one) => one !== undefined)
  const isChanged = given.some((one) => JSON.stringify(one) !== JSON.stringify(thoughts))
  return isChanged && thoughts.length > 0
    ? [
        `messages.${at}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
      ]
    : []
}

function thoughtsIn(content: readonly JsonObject[]): readonly string[] {
  return content.flatMap(({ type, thinking }) => (type === 'thinking' ? [String(thinking)] : []))
}

/**
 * Names what stands in front of a place in a conversation, as a model is given it. Newer models bind
 * their reasoning to that: it is valid as long as nothing before it has changed.
 *
 * What is named is the prompt at the waist, because what a wire makes of it depends on nothing else.
 * Left out is what an upstream is not told, or what may differ from one request to the next without
 * being a change: ids, states, who made an item.
 *
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
 */
import type { Item, Part } from '../../core/item.ts'
import type { PromptParameters, Prompt } from '../../core/prompt.ts'
import { digestText, createRunningDigest } from '../../core/text/digest.ts'

/** The name of a whole prompt: what an answer to it is made behind. */
export function hashPromptPrefix(prompt: Pick<Prompt, 'items' | 'params'>, wire: string): string {
  const { items, params } = prompt
  const prefix = startPrefixHash(computePrefixSeed(params, wire))
  for (const item of items) prefix.add(item)
  return prefix.hash()
}

/**
 * What of a request counts beside its items. OpenAI compares messages and nothing else
 * (https://developers.openai.com/api/docs/guides/preserved-reasoning); elsewhere everything that is
 * told in front of them does, and the model, which decides how some of it is told.
 */
export function computePrefixSeed(params: PromptParameters, wire: string): string {
  if (wire === 'responses') return ''
  const { model, instructions, tools, toolChoice, format } = params
  // Where only some tools are allowed, the others are not sent.
  const allowed = toolChoice?.type === 'allowed' ? toolChoice.names : null
  return digestText(JSON.stringify([model, instructions, tools, allowed, format]))
}

export interface RunningPrefixHash {
  readonly add: (item: Item) => void
  /** Of everything added so far. */
  readonly hash: () => string
}

export function startPrefixHash(seed: string): RunningPrefixHash {
  const running = createRunningDigest()
  running.add(seed)
  return {
    add: (item) => running.add(toldOf(item)),
    hash: running.soFar,
  }
}

/** Whether both count as the same in a prefix. */
export function hasSamePrefixText(one: Item, other: Item | undefined): boolean {
  return one === other || (other !== undefined && toldOf(one) === toldOf(other))
}

function toldOf(item: Item): string {
  return framed(item.type, textsOf(item))
}

/** The lengths stand in front, so that no two lists of texts are one and the same text. */
function framed(type: Item['type'], texts: readonly string[]): string {
  let head: string = type
  for (const text of texts) head += ` ${text.length}`
  return `${head}\n${texts.length === 1 ? texts[0] : texts.join('')}`
}

function textsOf(item: Item): readonly string[] {
  switch (item.type) {
    case 'message':
      return [item.role, item.phase ?? '', nativeOf(item), ...textsOfParts(item.content)]
    case 'function_call':
      return [item.call_id, item.name, item.arguments, nativeOf(item)]
    case 'custom_tool_call':
      return [item.call_id, item.name, item.input, nativeOf(item)]
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      const texts = typeof output === 'string' ? [output] : textsOfParts(output)
      return [item.call_id, nativeOf(item), ...texts]
    }
    case 'reasoning': {
      const { summary, content = [], encrypted_content: sealed } = item
      const texts = [...summary, ...content].map(({ text }) => text)
      // What is sealed holds what the wire said of it.
      const own = typeof sealed === 'string' && sealed !== '' ? sealed : nativeOf(item)
      return [`${summary.length}`, ...texts, own]
    }
    case 'opaque': {
      const { id: _id, status: _status, ...raw } = item.raw
      return [JSON.stringify(raw), nativeOf(item)]
    }
  }
}

/** What is said to the gateway alone, no model is told. */
function nativeOf({ native }: Item): string {
  if (native === undefined) return ''
  if (native['backstory'] === undefined) return JSON.stringify(native)
  const { backstory: _backstory, ...told } = native
  return Object.keys(told).length === 0 ? '' : JSON.stringify(told)
}

/** Whose words a text is, is said by its message. */
function textsOfParts(parts: readonly Part[]): readonly string[] {
  const texts: string[] = []
  for (const part of parts) {
    if (part.type === 'input_text' || part.type === 'output_text') texts.push('text', part.text)
    else if (part.type === 'refusal') texts.push(part.type, part.refusal)
    else texts.push(part.type, JSON.stringify(part))
  }
  return texts
}

/**
 * Hashes the prompt before an answer (its prefix). Newer models bind their reasoning to the prefix: the reasoning is
 * valid as long as nothing before it has changed.
 *
 * The prompt is hashed before it is encoded. That is enough, because the encoded request depends on nothing else. Ids,
 * statuses and origins are not hashed: they are not sent, or may differ between two requests for the same prompt.
 *
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
 */
import type { Item, Part } from '../../core/item.ts'
import type { PromptParameters, Prompt } from '../../core/prompt.ts'
import { digestText, createRunningDigest } from '../../core/text/digest.ts'

/**
 * Returns the hash of a complete prompt. It is stored with the answer to the prompt, in order to find out later whether
 * the items before that answer have changed.
 */
export function hashPromptPrefix(prompt: Pick<Prompt, 'items' | 'params'>, wire: string): string {
  const { items, params } = prompt
  const prefix = startPrefixHash(computePrefixSeed(params, wire))
  for (const item of items) prefix.add(item)
  return prefix.hash()
}

/**
 * Returns the seed of the hash of a prompt: a hash of the request fields that come before the items, i.e. instructions,
 * tools and output format; also of the model, because it affects their encoding. Returns `''` for OpenAI, because there
 * only the items decide whether reasoning is still valid
 * (https://developers.openai.com/api/docs/guides/preserved-reasoning).
 */
export function computePrefixSeed(params: PromptParameters, wire: string): string {
  if (wire === 'responses') return ''
  const { model, instructions, tools, toolChoice, format } = params
  // If the tool choice allows only some tools, the others are not sent.
  const allowed = toolChoice?.type === 'allowed' ? toolChoice.names : null
  return digestText(JSON.stringify([model, instructions, tools, allowed, format]))
}

export interface RunningPrefixHash {
  readonly add: (item: Item) => void
  /** Returns the hash of all items added so far. */
  readonly hash: () => string
}

export function startPrefixHash(seed: string): RunningPrefixHash {
  const running = createRunningDigest()
  running.add(seed)
  return {
    add: (item) => running.add(describeItem(item)),
    hash: running.currentDigest,
  }
}

/** True if replacing one item by the other would not change the hash of a prefix. */
export function hasSamePrefixText(one: Item, other: Item | undefined): boolean {
  return one === other || (other !== undefined && describeItem(one) === describeItem(other))
}

function describeItem(item: Item): string {
  return joinWithLengths(item.type, listTexts(item))
}

/** Joins texts with their lengths, so that `['ab', 'c']` and `['a', 'bc']` differ. */
function joinWithLengths(type: Item['type'], texts: readonly string[]): string {
  let head: string = type
  for (const text of texts) head += ` ${text.length}`
  return `${head}\n${texts.length === 1 ? texts[0] : texts.join('')}`
}

function listTexts(item: Item): readonly string[] {
  switch (item.type) {
    case 'message':
      return [item.role, item.phase ?? '', describeNative(item), ...listPartTexts(item.content)]
    case 'function_call':
      return [item.call_id, item.name, item.arguments, describeNative(item)]
    case 'custom_tool_call':
      return [item.call_id, item.name, item.input, describeNative(item)]
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      const texts = typeof output === 'string' ? [output] : listPartTexts(output)
      return [item.call_id, describeNative(item), ...texts]
    }
    case 'reasoning': {
      const { summary, content = [], encrypted_content: encrypted } = item
      const texts = [...summary, ...content].map(({ text }) => text)
      // The encrypted text changes whenever the wire-specific fields (`native`) change, so these need not be hashed,
      // too.
      const signature =
        typeof encrypted === 'string' && encrypted !== '' ? encrypted : describeNative(item)
      return [`${summary.length}`, ...texts, signature]
    }
    case 'opaque': {
      const { id: _id, status: _status, ...raw } = item.raw
      return [JSON.stringify(raw), describeNative(item)]
    }
  }
}

/**
 * Serializes the wire-specific fields of an item, e.g. signatures, without the `backstory` fields, which are sent to no
 * upstream.
 */
function describeNative({ native }: Item): string {
  if (native === undefined) return ''
  if (native['backstory'] === undefined) return JSON.stringify(native)
  const { backstory: _backstory, ...sent } = native
  return Object.keys(sent).length === 0 ? '' : JSON.stringify(sent)
}

/**
 * Lists the texts of content parts that are hashed. `input_text` and `output_text` are both hashed as `text`: which of
 * them is sent depends on the role of the message, which is hashed, too.
 */
function listPartTexts(parts: readonly Part[]): readonly string[] {
  const texts: string[] = []
  for (const part of parts) {
    if (part.type === 'input_text' || part.type === 'output_text') texts.push('text', part.text)
    else if (part.type === 'refusal') texts.push(part.type, part.refusal)
    else texts.push(part.type, JSON.stringify(part))
  }
  return texts
}

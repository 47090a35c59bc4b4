/**
 * Compaction at a threshold, as the Messages API does it: in the middle of an ordinary request, when it
 * is long enough. What it makes is known again when it comes back, from the account that it was made for.
 */
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { isCompaction, readMessages, triggerIn } from '../anthropic-compaction-laws.ts'
import { objects, textsIn, type Issued } from './service.ts'

interface Compacted {
  readonly content: readonly JsonObject[]
  readonly iterations: readonly JsonObject[]
}

/** `null` for what is not long enough, or not to be compacted. */
export function compactedBy(body: JsonObject, account: string, issued: Issued): Compacted | null {
  const trigger = triggerIn(body)
  const messages = objects(body['messages']).map(({ role, content }) => ({
    role,
    content: objects(content),
  }))
  const tokens = estimateTokens([body['system'], body['tools'], readMessages(messages)])
  if (trigger === null || tokens < trigger) return null
  const asked = readMessages(messages)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => [...questionIn(content), ...textsIn(content)])
  // The newest question, word for word, as far as it is of use.
  const content = `So far: ${issued.seal('Cp', tokens)}\nAsked: ${asked.at(-1)?.slice(-200) ?? ''}`
  const block = { type: 'compaction', content }
  issued.note(content, account)
  return {
    content: [block],
    iterations: [
      { type: 'compaction', input_tokens: tokens, output_tokens: 100 },
      { type: 'message', input_tokens: 500, output_tokens: 30 },
    ],
  }
}

/** What was asked when a summary was made, which its model can still answer. */
export function questionIn(content: readonly JsonObject[]): readonly string[] {
  return content.filter(isCompaction).flatMap(({ content: told }) => {
    const [, asked] = String(told).split('\nAsked: ')
    return asked === undefined || asked === '' ? [] : [asked]
  })
}

export function compactionFaults(
  { messages }: JsonObject,
  account: string,
  issued: Issued,
): readonly string[] {
  return objects(messages).flatMap(({ content }, at) =>
    objects(content)
      .filter((block) => isCompaction(block) && issued.find(block['content']) !== account)
      .map(() => `messages.${at}: \`compaction\` block was not made here, or was changed`),
  )
}

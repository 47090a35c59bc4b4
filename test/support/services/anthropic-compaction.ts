/**
 * Compaction at a threshold as the Messages API does it, within an ordinary request. A compaction is accepted
 * only from the account that it was made for.
 */
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { isCompaction, readMessages, triggerIn } from '../anthropic-compaction-laws.ts'
import { objects, textsIn, type IssuedSeals } from './service.ts'

interface Compacted {
  readonly content: readonly JsonObject[]
  readonly iterations: readonly JsonObject[]
}

/** Compacts the conversation; returns null if the request is below its threshold or has no threshold. */
export function compactIfDue(
  body: JsonObject,
  account: string,
  issued: IssuedSeals,
): Compacted | null {
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
  // Includes the latest question, cut to 200 characters.
  const content = `So far: ${issued.seal('Cp', tokens)}\nAsked: ${asked.at(-1)?.slice(-200) ?? ''}`
  const block = { type: 'compaction', content }
  issued.register(content, account)
  return {
    content: [block],
    iterations: [
      { type: 'compaction', input_tokens: tokens, output_tokens: 100 },
      { type: 'message', input_tokens: 500, output_tokens: 30 },
    ],
  }
}

/** Returns the question that a compaction contains. */
export function questionIn(content: readonly JsonObject[]): readonly string[] {
  return content.filter(isCompaction).flatMap(({ content: told }) => {
    const [, asked] = String(told).split('\nAsked: ')
    return asked === undefined || asked === '' ? [] : [asked]
  })
}

export function compactionFaults(
  { messages }: JsonObject,
  account: string,
  issued: IssuedSeals,
): readonly string[] {
  return objects(messages).flatMap(({ content }, at) =>
    objects(content)
      .filter((block) => isCompaction(block) && issued.find(block['content']) !== account)
      .map(() => `messages.${at}: \`compaction\` block was not made here, or was changed`),
  )
}

/**
 * Open WebUI puts the output of a completed response in the place of everything that its message held.
 * Where it asked to have that message continued, the output begins therefore with what was there, or
 * the user would lose it.
 */
import { itemId } from '../../conversation/ids.ts'
import { textOf } from '../../conversation/item.ts'
import type { JsonObject } from '../../conversation/json.ts'
import { isAssistantMessage } from '../../conversation/rounds.ts'
import type { Answering } from '../dialect.ts'

/** `output` is a list as JSON, and so is what comes of it. */
export function continuedOutput(output: string, { inbound, turnId }: Answering): string {
  const { items, given = items } = inbound
  const from = given.findLastIndex((item) => !isAssistantMessage(item)) + 1
  if (output === '[]' || from === given.length) return output
  const before = given.slice(from).flatMap((item, at): readonly JsonObject[] => {
    if (item.type !== 'message') return []
    const part = { type: 'output_text', text: textOf(item.content), annotations: [] }
    const id = itemId('message', turnId, from + at, 'in')
    return [{ id, type: 'message', status: 'completed', role: 'assistant', content: [part] }]
  })
  return `${JSON.stringify(before).slice(0, -1)},${output.slice(1)}`
}

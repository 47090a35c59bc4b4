/** Summaries over every wire, together with reasoning and tools, on Node and inside workerd. */
import type { Response, ResponseInputItem } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import { LOOK_TOOL, WIRE_MODELS, runToolCalls } from '../support/wire-models.ts'
import { HOSTS } from './hosts.ts'
import { useHostWithServices } from './service-host.ts'
import { sampleCases } from '../support/sample.ts'

const HEADER = '[Summary of the earlier part of this conversation.'
const tools = [{ type: 'function' as const, strict: true, ...LOOK_TOOL }]
const summaries = { trigger: 'turns', above: 3, keep_turns: 1, keep_tokens: 0 }

describe.each(HOSTS)('summaries through a gateway on %s', (_, start) => {
  const at = useHostWithServices(start)

  test.each(sampleCases(WIRE_MODELS, 2))(
    'a conversation with $model is summarized on %s (C54)',
    async ({ model, wire }) => {
      const { id: conversation } = await at.openai.conversations.create()
      const respond = (input: string | ResponseInputItem[]) =>
        at.openai.responses.create({
          model,
          tools,
          input,
          conversation,
          backstory: { summaries },
        } as never)
      const ask = async (place: string): Promise<void> => {
        const called: Response = await respond(`Look at ${place}.`)
        await respond(runToolCalls(called))
      }
      for (const place of ['Rome', 'Oslo', 'Graz']) await ask(place)
      const listed = async () => {
        const answer = await fetch(`${at.host.url}/v1/conversations/${conversation}/summaries`)
        return ((await answer.json()) as { data: { covered: { turns: number } }[] }).data
      }
      // A summary may be made within a turn, and once more after it.
      for (let waits = 0; (await listed()).length === 0; waits += 1) {
        if (waits > 200) throw new Error('There is no summary.')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect((await listed())[0]?.covered.turns).toBe(2)
      const earlier = at.services.received.length
      await ask('Bern')
      const sent = at.services.received
        .slice(earlier)
        .find(({ text }) => text.includes('Bern: 4 degrees'))
      expect(sent?.text.split(HEADER)).toHaveLength(2)
      // The model summarizes by repeating its input: the question, the call and two texts contain "Rome". Over Chat
      // Completions it repeats only the last message.
      expect(sent?.text.split('Rome')).toHaveLength(wire === 'chat' ? 1 : 5)
      expect(sent?.text).toContain('Graz: 4 degrees')
      expect(at.services.refusals.splice(0)).toEqual([])
    },
  )
})

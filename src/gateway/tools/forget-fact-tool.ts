/** Lets a model forget a fact that it was shown, because it is wrong or because its user wants it gone. */
import { listFactScopes } from '../../memory/facts/core-and-relevant-facts.ts'
import { formatFactHandle } from '../../memory/facts/render-facts.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const forgetFactTool: GatewayTool = {
  tool: {
    type: 'function',
    name: 'forget',
    description:
      'Forgets a note that is wrong, or that the user wants to be forgotten. What is only a little wrong is better corrected by keeping it again.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'What stands in brackets in front of the note.' },
      },
      required: ['id'],
      additionalProperties: false,
    },
    strict: false,
  },
  isOffered: ({ policy, mayKeep = true }) => policy.layers.facts && mayKeep,
  async run({ id }, { policy, caller, ports, memory }) {
    if (typeof id !== 'string') return '`id` must be a string.'
    const handle = id.trim().replace(/^\[|\]$/g, '')
    const unknown = `There is no note ${JSON.stringify(handle.slice(0, 64))}.`
    if (!HANDLE.test(handle)) return unknown
    const scopes = listFactScopes({ rules: policy.layers, thread: memory?.thread ?? null })
    const found = await ports.facts.factsEnding(caller, handle)
    const [fact, other] = found.filter(({ scope }) => scopes.includes(scope))
    if (fact === undefined) return unknown
    if (other !== undefined) return `There are several notes ${handle}.`
    await ports.facts.deleteFact(caller, fact.id)
    return `Forgotten: [${formatFactHandle(fact)}].`
  },
}

/** The end of an id, or the whole of it. */
const HANDLE = /^(?:fact_)?[0-9A-Z]{8,20}$/

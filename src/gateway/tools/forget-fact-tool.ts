/** Gateway tool that lets a model delete a stored fact that is wrong or that the user wants to be forgotten. */
import { listFactScopes } from '../../memory/facts/core-and-matching-fact-layers.ts'
import { formatFactHandle } from '../../memory/facts/render-facts.ts'
import { createFunctionTool } from './create-function-tool.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const forgetFactTool: GatewayTool = {
  tool: createFunctionTool({
    name: 'forget',
    description:
      'Forgets a note that is wrong, or that the user wants to be forgotten. What is only a little wrong is better corrected by keeping it again.',
    properties: {
      id: { type: 'string', description: 'What stands in brackets in front of the note.' },
    },
    required: ['id'],
  }),
  isOffered: ({ policy, mayStore = true }) => policy.layers.facts && mayStore,
  async run({ id }, { policy, caller, ports, memoryThread }) {
    if (typeof id !== 'string') return '`id` must be a string.'
    const handle = id.trim().replace(/^\[|\]$/g, '')
    const unknown = `There is no note ${JSON.stringify(handle.slice(0, 64))}.`
    if (!FACT_HANDLE.test(handle)) return unknown
    const scopes = listFactScopes({ rules: policy.layers, thread: memoryThread?.thread ?? null })
    const matches = await ports.facts.findFactsByIdEnding(caller, handle)
    const [fact, other] = matches.filter(({ scope }) => scopes.includes(scope))
    if (fact === undefined) return unknown
    if (other !== undefined) return `There are several notes ${handle}.`
    await ports.facts.deleteFact(caller, fact.id)
    return `Forgotten: [${formatFactHandle(fact)}].`
  },
}

/** Matches the id of a fact, e.g. `fact_00000000000000000001`, or at least the last 8 characters of an id. */
const FACT_HANDLE = /^(?:fact_)?[0-9A-Z]{8,20}$/

/** Gateway tool that lets a model store a fact for this conversation, or for all conversations of the user. */
import {
  FACT_CHAR_LIMITS,
  hasSearchTerms,
  saveFact,
  MAX_FACT_AREA_CHARS,
  resolveFactScope,
  type FactInput,
} from '../../memory/facts/save-fact.ts'
import { REMEMBER_TOOL_NAME } from '../../memory/facts/is-fact-in-conversation.ts'
import { formatFactHandle } from '../../memory/facts/render-facts.ts'
import { createFunctionTool } from './create-function-tool.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const rememberFactTool: GatewayTool = {
  tool: createFunctionTool({
    name: REMEMBER_TOOL_NAME,
    description:
      'Keeps a fact that will be worth knowing later, such as a name, a preference or a decision: one sentence that stands by itself. Notes that fit are shown to you with later questions. Keep nothing that is told already, and no secrets.',
    properties: {
      text: {
        type: 'string',
        description: `One sentence of ${FACT_CHAR_LIMITS.min} to ${FACT_CHAR_LIMITS.max} characters.`,
      },
      area: {
        type: 'string',
        description: 'What it is about, in a word; `core` for what must always be known.',
      },
      importance: {
        type: 'number',
        description: 'From 0 to 1; from 0.9 on it is always shown and never fades.',
      },
      days: { type: 'number', description: 'For how many days it holds, if not for good.' },
    },
    required: ['text'],
  }),
  isOffered: ({ policy, mayStore = true }) => policy.layers.facts && mayStore,
  async run(args, { policy, caller, ports, memoryThread }) {
    const input = readFact(args, ports.nowMs())
    if (typeof input === 'string') return input
    if (memoryThread?.isTemporary === true) return 'Nothing is kept of a temporary chat.'
    const thread = memoryThread?.thread ?? null
    const scope = resolveFactScope(caller, policy.layers.scope, thread)
    if (scope === null) return 'Nothing can be kept of this conversation.'
    const source = { thread, response: null, items: null }
    const fact = await saveFact({ ...input, scope, source }, caller, ports, memoryThread)
    return `Kept as [${formatFactHandle(fact)}].`
  },
}

/** Reads the arguments of a call. Returns the fact to store, or a text that says which argument is invalid. */
function readFact(
  { text, area, importance, days }: Parameters<GatewayTool['run']>[0],
  nowMs: number,
): Omit<FactInput, 'scope' | 'source'> | string {
  if (typeof text !== 'string') return '`text` must be a string.'
  const sentence = text.trim()
  if (sentence.length < FACT_CHAR_LIMITS.min || sentence.length > FACT_CHAR_LIMITS.max) {
    return `Not kept: \`text\` must have ${FACT_CHAR_LIMITS.min} to ${FACT_CHAR_LIMITS.max} characters, and has ${sentence.length}.`
  }
  if (!hasSearchTerms(sentence)) return 'Not kept: there are no words in `text`.'
  if (isPresent(area) && (typeof area !== 'string' || area.length > MAX_FACT_AREA_CHARS)) {
    return `\`area\` must be a string of at most ${MAX_FACT_AREA_CHARS} characters.`
  }
  if (isPresent(importance) && !isWithin(importance, 0, 1)) {
    return '`importance` must be a number from 0 to 1.'
  }
  if (isPresent(days) && !isWithin(days, 0, MAX_DAYS)) {
    return `\`days\` must be a number from 0 to ${MAX_DAYS}.`
  }
  return {
    text: sentence,
    area: typeof area === 'string' && area.trim() !== '' ? area.trim() : null,
    importance: typeof importance === 'number' ? importance : null,
    validUntilMs: typeof days === 'number' ? nowMs + Math.round(days * DAY_MS) : null,
  }
}

const MAX_DAYS = 36_500
const DAY_MS = 24 * 60 * 60 * 1000

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max
}

/** Lets a model keep a fact for later conversations of its user, or for later in this one. */
import {
  FACT_CHAR_LIMITS,
  hasSearchTerms,
  saveFact,
  MAX_AREA_CHARS,
  resolveFactScope,
  type FactInput,
} from '../../memory/facts/save-fact.ts'
import { REMEMBER_TOOL_NAME } from '../../memory/facts/is-fact-in-conversation.ts'
import { formatFactHandle } from '../../memory/facts/render-facts.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const rememberFactTool: GatewayTool = {
  tool: {
    type: 'function',
    name: REMEMBER_TOOL_NAME,
    description:
      'Keeps a fact that will be worth knowing later, such as a name, a preference or a decision: one sentence that stands by itself. Notes that fit are shown to you with later questions. Keep nothing that is told already, and no secrets.',
    parameters: {
      type: 'object',
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
      additionalProperties: false,
    },
    strict: false,
  },
  isOffered: ({ policy, mayKeep = true }) => policy.layers.facts && mayKeep,
  async run(given, { policy, caller, ports, memory }) {
    const said = saidIn(given, ports.nowMs())
    if (typeof said === 'string') return said
    if (memory?.isTemporary === true) return 'Nothing is kept of a temporary chat.'
    const thread = memory?.thread ?? null
    const scope = resolveFactScope(caller, policy.layers.scope, thread)
    if (scope === null) return 'Nothing can be kept of this conversation.'
    const source = { thread, response: null, items: null }
    const fact = await saveFact({ ...said, scope, source }, caller, ports, memory)
    return `Kept as [${formatFactHandle(fact)}].`
  },
}

/** What is to be kept, or what is wrong with it. */
function saidIn(
  { text, area, importance, days }: Parameters<GatewayTool['run']>[0],
  nowMs: number,
): Omit<FactInput, 'scope' | 'source'> | string {
  if (typeof text !== 'string') return '`text` must be a string.'
  const words = text.trim()
  if (words.length < FACT_CHAR_LIMITS.min || words.length > FACT_CHAR_LIMITS.max) {
    return `Not kept: \`text\` must have ${FACT_CHAR_LIMITS.min} to ${FACT_CHAR_LIMITS.max} characters, and has ${words.length}.`
  }
  if (!hasSearchTerms(words)) return 'Not kept: there are no words in `text`.'
  if (isSaid(area) && (typeof area !== 'string' || area.length > MAX_AREA_CHARS)) {
    return `\`area\` must be a string of at most ${MAX_AREA_CHARS} characters.`
  }
  if (isSaid(importance) && !isWithin(importance, 0, 1)) {
    return '`importance` must be a number from 0 to 1.'
  }
  if (isSaid(days) && !isWithin(days, 0, MOST_DAYS)) {
    return `\`days\` must be a number from 0 to ${MOST_DAYS}.`
  }
  return {
    text: words,
    area: typeof area === 'string' && area.trim() !== '' ? area.trim() : null,
    importance: typeof importance === 'number' ? importance : null,
    validUntilMs: typeof days === 'number' ? nowMs + Math.round(days * DAY_MS) : null,
  }
}

const MOST_DAYS = 36_500
const DAY_MS = 24 * 60 * 60 * 1000

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}

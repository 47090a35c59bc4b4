/**
 * Lets a model read on in an output of a tool that it was given cut short. A piece is never longer than
 * what may stand in the prompt, so that it is not cut in turn when it is told again.
 *
 * It is offered as soon as there may be outputs, not only once there is one that was cut. Tools stand
 * in front of everything else that a provider caches: a list that changes in the middle of a
 * conversation costs more than a tool that is not needed yet.
 */
import { isToolOutput } from '../../core/item.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { EXPAND_OUTPUT_TOOL_NAME } from '../../context/tool-outputs/cap-outputs.ts'
import { readOutputRange as pieceOf } from '../../context/tool-outputs/read-output-range.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const expandOutputTool: GatewayTool = {
  tool: {
    type: 'function',
    name: EXPAND_OUTPUT_TOOL_NAME,
    description:
      'Reads characters of a tool output that was cut in this conversation. Where it was cut, a note names its call_id.',
    parameters: {
      type: 'object',
      properties: {
        call_id: { type: 'string', description: 'The id of the call whose output it is.' },
        from: { type: 'integer', description: 'The first character, counted from 0.' },
        to: { type: 'integer', description: 'The character to stop in front of.' },
      },
      required: ['call_id'],
      additionalProperties: false,
    },
    strict: false,
  },
  isOffered: ({ policy, items, params }) =>
    policy.outputs.expand && (params.tools.length > 0 || items.some(isToolOutput)),
  run(given, { withinReach, policy }) {
    const { call_id: callId, from, to } = given
    if (typeof callId !== 'string') return '`call_id` must be a string.'
    const range = {
      ...(typeof from === 'number' ? { from } : {}),
      ...(typeof to === 'number' ? { to } : {}),
      maxChars: mostAtOnce(policy),
    }
    const piece = pieceOf(withinReach, callId, range)
    if (piece === null)
      return `There is no output of a call ${JSON.stringify(callId.slice(0, 64))}.`
    const { text, chars } = piece
    if (text === '') return `There is nothing there: the output has ${chars} characters.`
    return `Characters ${piece.from} to ${piece.to} of ${chars}:\n${text}`
  },
}

/** Less than a cap of any kind would cut, with the line above the piece. */
function mostAtOnce({ outputs: { cap } }: ContextPolicy): number {
  return Math.max(LEAST, (cap ?? USUAL) - HEADING)
}

const USUAL = 4000
const LEAST = 100
const HEADING = 60

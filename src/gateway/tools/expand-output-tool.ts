/**
 * Gateway tool that lets a model read a piece of a tool output that was shortened in the prompt. The piece
 * is shorter than the limit for outputs, so that later requests do not shorten the piece again.
 *
 * The tool is offered as soon as a request has tools or outputs, before any output is shortened. If it were
 * added later, the list of tools would change. The prompt starts with this list, so its cache at the
 * provider would become useless.
 */
import { isToolOutput } from '../../core/item.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { EXPAND_OUTPUT_TOOL_NAME } from '../../context/tool-outputs/cap-outputs.ts'
import { readOutputRange } from '../../context/tool-outputs/read-output-range.ts'
import { createFunctionTool } from './create-function-tool.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const expandOutputTool: GatewayTool = {
  tool: createFunctionTool({
    name: EXPAND_OUTPUT_TOOL_NAME,
    description:
      'Reads characters of a tool output that was cut in this conversation. Where it was cut, a note names its call_id.',
    properties: {
      call_id: { type: 'string', description: 'The id of the call whose output it is.' },
      from: { type: 'integer', description: 'The first character, counted from 0.' },
      to: { type: 'integer', description: 'The character to stop in front of.' },
    },
    required: ['call_id'],
  }),
  isOffered: ({ policy, items, clientParams }) =>
    policy.outputs.expand && (clientParams.tools.length > 0 || items.some(isToolOutput)),
  run({ call_id: callId, from, to }, { readableItems, policy }) {
    if (typeof callId !== 'string') return '`call_id` must be a string.'
    const range = {
      ...(typeof from === 'number' ? { from } : {}),
      ...(typeof to === 'number' ? { to } : {}),
      maxChars: limitPieceChars(policy),
    }
    const piece = readOutputRange(readableItems, callId, range)
    if (piece === null)
      return `There is no output of a call ${JSON.stringify(callId.slice(0, 64))}.`
    const { text, totalChars } = piece
    if (text === '') return `There is nothing there: the output has ${totalChars} characters.`
    return `Characters ${piece.from} to ${piece.to} of ${totalChars}:\n${text}`
  },
}

/**
 * Returns the maximum length of a piece: the limit for outputs minus the heading, e.g. 4000 → 3940
 * characters; at least 100.
 */
function limitPieceChars({ outputs: { cap } }: ContextPolicy): number {
  return Math.max(MIN_PIECE_CHARS, (cap ?? DEFAULT_CAP_CHARS) - HEADING_CHARS)
}

const DEFAULT_CAP_CHARS = 4000
const MIN_PIECE_CHARS = 100
const HEADING_CHARS = 60

/**
 * Answers the calls of the house in one answer. Every call gets its output, whatever becomes of the
 * tool: one that fails, or takes too long, says so to the model, and costs the answer nothing else.
 */
import { houseOutput } from '../../core/items/gateway-tool-items.ts'
import type { FunctionCall, FunctionCallOutput } from '../../core/item.ts'
import { parsedObject } from '../../core/json/json.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import { inTime, LATE } from '../../core/wait-with-timeout.ts'
import type { Answer, HouseContext, HouseTool } from './gateway-tool-interface.ts'

export function answerHouseCalls(
  calls: readonly FunctionCall[],
  tools: readonly HouseTool[],
  context: HouseContext,
): Promise<readonly FunctionCallOutput[]> {
  return Promise.all(
    calls.map(async (call) => houseOutput(call.call_id, await answerTo(call, tools, context))),
  )
}

/** For calls that came when nothing was to follow any more. */
export function unanswered(calls: readonly FunctionCall[]): readonly FunctionCallOutput[] {
  return calls.map(({ call_id: callId }) => houseOutput(callId, CUT_OFF))
}

const CUT_OFF = 'The tool was not run, because the answer ended with this call.'

async function answerTo(
  { name, arguments: text }: FunctionCall,
  tools: readonly HouseTool[],
  context: HouseContext,
): Promise<Answer> {
  const own = tools.find(({ tool }) => tool.name === name)
  // Some models leave the arguments out where they could.
  const given = text.trim() === '' ? {} : parsedObject(text)
  if (own === undefined) return `There is no tool ${name}.`
  if (given === null) return 'The arguments are not a JSON object.'
  try {
    const answer = await inTime(Promise.resolve(own.run(given, context)), PATIENCE_MS)
    if (answer === LATE) return 'The tool took too long.'
    return answer.length === 0 ? 'There is nothing.' : answer
  } catch (error) {
    context.world.log('warn', 'house-tool-failed', { tool: name, why: messageOf(error) })
    return 'The tool failed.'
  }
}

const PATIENCE_MS = 10_000

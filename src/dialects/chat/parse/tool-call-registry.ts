/**
 * Matches tool outputs to calls while messages are read in order. Some services give all calls an
 * empty id, which clients send back: such calls get generated ids (`call_0`, `call_1`), and their
 * outputs are matched in order.
 */
export interface ToolCallRegistry {
  /** Returns the id of the call: its own, or a generated one. */
  readonly registerCall: (call: RegisteredToolCall) => string
  readonly matchOutput: (clientId: string) => MatchedToolCall
  /** Returns the id of the first legacy call (`function_call`) of that name without an output. */
  readonly matchLegacyOutput: (name: string) => string
}

export interface RegisteredToolCall {
  /** The id that the client sent, possibly empty. */
  readonly clientId: string
  readonly kind: 'function' | 'custom' | 'legacy'
  readonly name: string
}

export interface MatchedToolCall {
  readonly callId: string
  readonly kind: RegisteredToolCall['kind']
}

interface CallWithoutId extends RegisteredToolCall {
  readonly callId: string
  hasOutput: boolean
}

export function createToolCallRegistry(): ToolCallRegistry {
  const kinds = new Map<string, RegisteredToolCall['kind']>()
  const callsWithoutId: CallWithoutId[] = []
  let unmatchedOutputs = 0
  const matchFirst = (matches: (call: CallWithoutId) => boolean): string => {
    const found = callsWithoutId.find((call) => !call.hasOutput && matches(call))
    if (found === undefined) return `call_unknown_${(unmatchedOutputs += 1)}`
    found.hasOutput = true
    return found.callId
  }
  return {
    registerCall(call) {
      const { clientId, kind } = call
      const callId = clientId === '' ? `call_${callsWithoutId.length}` : clientId
      if (clientId === '') callsWithoutId.push({ ...call, callId, hasOutput: false })
      kinds.set(callId, kind)
      return callId
    },
    matchOutput(clientId) {
      const callId = clientId === '' ? matchFirst(({ kind }) => kind !== 'legacy') : clientId
      return { callId, kind: kinds.get(callId) ?? 'function' }
    },
    matchLegacyOutput: (name) => matchFirst((call) => call.kind === 'legacy' && call.name === name),
  }
}

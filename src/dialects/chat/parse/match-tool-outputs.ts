/**
 * Matches tool outputs to calls while messages are read in order. Some services give every call an
 * empty id, and clients send it back with the call and with its output. Such a call gets a
 * generated id (`call_0`, `call_1`). Outputs with an empty id are matched to these calls in order.
 */
export interface ToolOutputMatcher {
  /** Returns the call's id: the client's, or a generated one if the client's is empty. */
  readonly registerCall: (call: RegisteredToolCall) => string
  readonly matchOutput: (clientId: string) => MatchedToolCall
  /**
   * Returns the id of the first legacy call (`function_call`) that has this function name and no
   * output yet; `call_unknown_1` etc. if there is none.
   */
  readonly matchLegacyOutput: (name: string) => string
}

export interface RegisteredToolCall {
  /** The id that the client sent; may be empty. */
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

export function createToolOutputMatcher(): ToolOutputMatcher {
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

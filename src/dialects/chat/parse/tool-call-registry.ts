/**
 * Which call an output answers, while messages are read in their order. Some services give calls an
 * empty id and clients send it back; such a call gets a name by its place, and so does its output.
 */
export interface ToolCallRegistry {
  /** The id that the call goes by. */
  readonly made: (call: RegisteredToolCall) => string
  readonly answered: (givenId: string) => MatchedToolCall
  /** For the way of `functions`: the call of that name which is still waiting. */
  readonly answeredByName: (name: string) => string
}

export interface RegisteredToolCall {
  readonly givenId: string
  readonly kind: 'function' | 'custom' | 'legacy'
  readonly name: string
}

export interface MatchedToolCall {
  readonly callId: string
  readonly kind: RegisteredToolCall['kind']
}

interface Entry extends RegisteredToolCall {
  readonly callId: string
  isAnswered: boolean
}

export function createToolCallRegistry(): ToolCallRegistry {
  const kinds = new Map<string, RegisteredToolCall['kind']>()
  const nameless: Entry[] = []
  let strays = 0
  const stray = (): string => `call_unknown_${(strays += 1)}`
  const take = (matches: (entry: Entry) => boolean): string => {
    const entry = nameless.find((one) => !one.isAnswered && matches(one))
    if (entry === undefined) return stray()
    entry.isAnswered = true
    return entry.callId
  }
  return {
    made(call) {
      const { givenId, kind } = call
      const callId = givenId === '' ? `call_${nameless.length}` : givenId
      if (givenId === '') nameless.push({ ...call, callId, isAnswered: false })
      kinds.set(callId, kind)
      return callId
    },
    answered(givenId) {
      const callId = givenId === '' ? take(({ kind }) => kind !== 'legacy') : givenId
      return { callId, kind: kinds.get(callId) ?? 'function' }
    },
    answeredByName: (name) => take((entry) => entry.kind === 'legacy' && entry.name === name),
  }
}

/** Several who want to be called back. */
export interface CallbackList {
  readonly add: (callback: () => void) => void
  readonly call: () => void
}

export function createCallbackList(): CallbackList {
  const all: (() => void)[] = []
  return {
    add: (callback) => void all.push(callback),
    call() {
      for (const callback of all) callback()
    },
  }
}

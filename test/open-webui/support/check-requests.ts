/** Checks what reached the upstream during a part. */
import type { PartContext } from '../parts/part-interface.ts'
import type { RecordedRequest } from './upstream.ts'

export interface RequestWatch {
  /** Returns the requests since the last call, without tasks such as titles. */
  readonly take: () => readonly RecordedRequest[]
}

export function watchRequests({ upstream }: Pick<PartContext, 'upstream'>): RequestWatch {
  let at = upstream.requests.length
  return {
    take() {
      const found = upstream.requests.slice(at)
      at = upstream.requests.length
      return found.filter(({ isTask }) => !isTask)
    },
  }
}

/** Checks that no request was refused, and that each contains the reasoning of all its answers in order. */
export function checkRecalled(
  { check }: Pick<PartContext, 'check'>,
  what: string,
  requests: readonly RecordedRequest[],
): void {
  const wrong = requests.filter(
    ({ answers, reasoning, refusal }) =>
      refusal !== null || JSON.stringify(answers) !== JSON.stringify(reasoning),
  )
  const shown = wrong.map(({ question, answers, reasoning, refusal }) => {
    return { question: question.slice(0, 60), answers, reasoning, refusal }
  })
  check(what, requests.length > 0 && wrong.length === 0, shown)
}

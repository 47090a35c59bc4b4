/**
 * Prepares the retry of a request whose upstream rejected a parameter that the gateway itself had added: with
 * another value, or without it. The rejection is remembered for the model and its account.
 */
import type { Failure } from '../../core/stream-event.ts'
import {
  addParameters,
  chooseAddedParameters,
  createAddedParameterNote,
  describeParameter,
  isAboutParameter,
  type DefaultParameterPorts,
} from '../prompt/default-parameters.ts'
import type { AddedParameter, PreparedRequest } from '../prompt/planned-request.ts'
import type { Ports } from '../dependencies-interface.ts'
import { replacePrompt } from './replace-prompt.ts'

/** Returns the request to send again; null if the failure is about no added parameter. */
export function prepareRetryWithoutAddedParameter(
  prepared: PreparedRequest,
  failure: Failure,
  ports: DefaultParameterPorts & Ports<'log'>,
): PreparedRequest | null {
  const { provider, account, prompt, addedParameters, clientRequest } = prepared
  const isRejection = failure.status === 400 || failure.status === 422
  if (!isRejection || provider.isReasoningRejection?.(failure) === true) return null
  const rejected = addedParameters.filter((parameter) => isAboutParameter(parameter, failure))
  if (rejected.length === 0) return null
  const target = { account, model: prompt.params.model }
  for (const parameter of rejected) {
    const description = describeParameter(parameter)
    ports.upstreamKnowledge?.saveRejection(target, description)
    const fields = { upstream: account.name, parameter: description }
    ports.log('info', 'added-parameter-rejected', fields)
  }
  const added = chooseAddedParameters(target, clientRequest, ports)
  const params = addParameters(removeParameters(prepared), added)
  const notes = prepared.notes.filter(({ why }) => !ADDED_CODES.has(why))
  return replacePrompt(
    { ...prepared, notes, addedParameters: added },
    { ...prompt, params },
    prepared.originalPositions,
    added.map(createAddedParameterNote),
  )
}

const ADDED_CODES: ReadonlySet<string> = new Set<AddedParameter['why']>([
  'lowest-effort',
  'summary-requested',
])

/** Returns the parameters as they were before the gateway added some. */
function removeParameters({ prompt: { params }, clientRequest, addedParameters }: PreparedRequest) {
  const names = addedParameters.flatMap(({ changes }) => Object.keys(changes))
  const original = Object.entries(clientRequest.params).filter(([name]) => names.includes(name))
  return { ...params, ...Object.fromEntries(original) }
}

import type { Diagnosis, DiagnosisTarget } from '../domain/webhook-diagnosis.ts'
import { diagnosing } from './options.ts'

/** Finds out why an endpoint refuses an event. */
export const webhookDiagnosis = (target: DiagnosisTarget): Promise<Diagnosis> => diagnosing.diagnoseDelivery(target)

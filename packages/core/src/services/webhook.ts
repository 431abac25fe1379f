import { declare, type SettingGroup, type SettingRule, type ValuesOf } from '@spotalis/units';

const settings = {
  webhook: {
    configurationName: {
      format: 'text',
      what: 'the name of an object',
      example: 'spotalis',
      default: 'spotalis',
      doc: 'The MutatingWebhookConfiguration of this installation. Without a working one nothing is moved.',
    },
    port: { format: 'port', default: 9443, doc: 'Where the webhook serves TLS.' },
    certDir: {
      format: 'text',
      what: 'a directory',
      example: '/tmp/k8s-webhook-server/serving-certs',
      default: '/tmp/k8s-webhook-server/serving-certs',
      doc: 'Holds tls.crt and tls.key, unless certs.mode is auto. Changed files are picked up while running.',
    },
    certs: {
      mode: {
        format: 'choice',
        options: ['auto', 'cert-manager', 'provided'],
        default: 'auto',
        doc: 'Who makes the certificate: the webhooks themselves, cert-manager, or you. Only in auto they write it, and the caBundle.',
      },
      name: {
        format: 'text',
        what: 'the name of an object',
        example: 'spotalis-webhook-certificate',
        default: 'spotalis-webhook-certificate',
        doc: 'The Secret that all webhooks share in mode auto, and the Lease of who renews it. Both have to exist.',
      },
      namespace: {
        format: 'text',
        what: 'the name of a namespace',
        example: 'spotalis-system',
        default: null,
        doc: 'Where these two are, and the Service. Unset: the namespace the webhook runs in.',
      },
      service: {
        format: 'text',
        what: 'the name of a Service',
        example: 'spotalis-webhook',
        default: 'spotalis-webhook',
        doc: 'The certificate is good for SERVICE.NAMESPACE.svc, by which the API server calls.',
      },
      names: {
        format: 'list',
        what: 'a list of DNS names and addresses',
        example: '[localhost]',
        default: [],
        doc: 'Other names that it is to be good for.',
      },
      lifetime: {
        format: 'duration',
        min: '10s',
        example: '2160h',
        default: '2160h',
        doc: 'How long a certificate is good for. It is renewed when two thirds of that are over.',
      },
      checkPeriod: {
        format: 'duration',
        min: '100ms',
        example: '10s',
        default: '10s',
        doc: 'How often each webhook looks at the Secret and at the registration. At most a tenth of lifetime.',
      },
    },
    decisionTimeout: {
      format: 'duration',
      min: '50ms',
      example: '1500ms',
      default: '1500ms',
      doc: "Time for one admission. At least 300 ms below the webhook configuration's timeoutSeconds.",
    },
    rehearsal: {
      format: 'integer',
      min: 0,
      max: 10_000,
      example: 300,
      default: 300,
      doc: 'Admissions of made-up pods that each webhook plays, for 5 s at most, before it serves: code that has hardly run is slow. 0: none.',
    },
    drainGrace: {
      format: 'duration',
      example: '5s',
      default: '5s',
      doc: 'How long admissions are still served after the order to stop, until every client has heard of it.',
    },
    replicas: {
      format: 'integer',
      min: 1,
      max: 1_000,
      example: 3,
      default: null,
      doc: 'How many webhooks run side by side: memory:// is refused for more than one, and while Redis is away ranks are shared out among so many (unset: 4).',
    },
  },
} as const satisfies SettingGroup;

export type WebhookValues = ValuesOf<typeof settings>['webhook'];

const certificatesKeepUp: SettingRule<typeof settings> = ({ webhook: { certs } }) => {
  if (certs.checkPeriod * 10 <= certs.lifetime) return [];
  const message = 'has to be at most a tenth of lifetime, for example 10s and 2160h';
  return [{ key: 'webhook.certs.checkPeriod', message }];
};

export const webhookSettings = declare(settings, [certificatesKeepUp]);

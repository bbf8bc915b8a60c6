import { translation } from '../translation.ts'
import { ptAfter } from './after.ts'
import { ptBefore } from './before.ts'
import { ptLink } from './link.ts'

/** The texts of the checkout in Portuguese. How they came about: docs/translations.md. */
export const pt = translation({
  'page.skip': 'Ir para o pagamento',
  'page.test_mode': 'Modo de teste',
  'page.test': 'Teste',
  'page.test.text': 'Não circula dinheiro real.',
  'page.footer': 'Página de pagamento da Pinrail',
  'page.whole': 'Abrir em página inteira',
  'page.language': 'Idioma',

  'title.pay': 'Pagar {amount} a {merchant}',
  'title.state': '{state}: {amount} a {merchant}',
  'title.unpaid': 'Ainda não pago',
  'title.not_offered': 'Não é possível a partir daqui',
  'title.tries': 'Iniciado demasiadas vezes',
  'title.declined': 'Recusado',
  'title.checking_with': 'A consultar {partner}',
  'title.verification': 'Verificação de identidade',
  'title.progress': 'A caminho',
  'title.checking': 'Em análise',
  'title.done': 'Pago',
  'title.twice': 'Pago duas vezes',
  'title.expired': 'Expirado',
  'title.canceled': 'Cancelado',
  'title.failed': 'Não foi concluído',
  'title.refunded': 'Devolvido',
  'title.receipt': 'Recibo de {merchant}',
  'title.receipt_test': 'Recibo de teste de {merchant}',

  'sum.pay': 'A pagar',
  'sum.paid': 'Pago',
  'sum.price': 'Preço',
  'sum.not_charged': 'Não cobrado',
  'sum.returned': 'Devolvido',

  'panel.details': 'Detalhes deste pagamento',
  'panel.order': 'Encomenda',
  'panel.open_until': 'Aberto até',
  'panel.from': 'Paga a partir de',
  'panel.question': 'Uma dúvida sobre a sua encomenda?',

  'stop.past': 'concluído',
  'stop.now': 'agora',
  'stop.since': 'desde: {time}',
  'stop.until': 'até {time}',
  'rail.where': 'Onde está o seu pagamento',
  'rail.how': 'Como funciona',

  'shop.back': 'Voltar a {merchant}',
  'copy.button': 'Copiar',
  'copy.done': 'Copiado',

  'phone.title': 'Continuar no telemóvel',
  'phone.text': 'Leia este código ou abra lá a ligação. Os dois dispositivos mostram o mesmo pagamento.',
  'phone.code': 'Código QR com a ligação a este pagamento de {amount} a {merchant}',
  'phone.link': 'Ligação a esta página',

  'offline.heading': 'Está sem ligação à Internet.',
  'offline.goes_on': 'O seu pagamento continua.',
  'offline.waits': 'Esta página pode estar desatualizada.',
  'offline.last': 'Última atualização: {time}',

  'about.seconds': 'cerca de {count, plural, one {# segundo} many {# segundos} other {# segundos}}',
  'about.minutes': 'cerca de {count, plural, one {# minuto} many {# minutos} other {# minutos}}',

  ...ptBefore,
  ...ptAfter,
  ...ptLink,

  'problem.back': 'Voltar ao pagamento',
  'problem.retry': 'Tentar de novo',
  'problem.not_found.heading': 'Este pagamento não existe',
  'problem.not_found.text': 'Verifique se tem a ligação completa ou peça uma nova à loja.',
  'problem.bad_request.heading': 'Não foi possível',
  'problem.bad_request.text': 'Não foi possível ler o que o seu navegador enviou. Volte ao pagamento e tente de novo.',
  'problem.forbidden.heading': 'Comece na página de pagamento',
  'problem.forbidden.text': 'Este passo foi pedido por outro site. Abra a página de pagamento e prima lá o botão.',
  'problem.method_not_allowed.heading': 'Não foi possível',
  'problem.method_not_allowed.text': 'Este endereço serve apenas os botões da página de pagamento.',
  'problem.unavailable.heading': 'De momento não é possível abrir o pagamento',
  'problem.unavailable.text': 'Nada se perdeu e nada lhe foi cobrado. Aguarde um momento e tente de novo.',
  'problem.busy.heading': 'Um momento, por favor',
  'problem.busy.text':
    'De momento não é possível mostrar esta página. O seu pagamento não é afetado. Tente de novo dentro de momentos.',
  'problem.internal.heading': 'Algo correu mal do nosso lado',
  'problem.internal.text': 'O seu pagamento não é afetado. Recarregue esta página dentro de momentos.',
})

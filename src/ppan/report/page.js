// Choosing a point: pointer, touch, keyboard, the list, the table and the address all lead to choose().
(() => {
  'use strict';
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const parts = all('[data-point]');
  const targets = all('.plot .target');
  const list = document.getElementById('point-list');
  if (!list) return;
  const keys = all('option', list).map(option => option.value);
  const tip = document.getElementById('tip');

  function choose(key, remember) {
    if (!keys.includes(key)) return;
    for (const part of parts) part.hidden = part.dataset.point !== key;
    for (const target of targets) {
      const chosen = target.dataset.key === key;
      target.classList.toggle('chosen', chosen);
      target.setAttribute('aria-pressed', String(chosen));
      target.setAttribute('tabindex', chosen ? '0' : '-1');
    }
    for (const row of all('tr[data-row]')) row.classList.toggle('chosen', row.dataset.row === key);
    list.value = key;
    if (remember) history.replaceState(null, '', '#point-' + key);
  }

  function step(by) {
    const next = keys.indexOf(list.value) + by;
    if (next >= 0 && next < keys.length) choose(keys[next], true);
  }

  function show(target) {
    const brief = parts.find(part => part.classList.contains('brief') && part.dataset.point === target.dataset.key);
    const plot = target.closest('.plot');
    if (!brief) return;
    plot.append(tip);
    tip.replaceChildren();
    const name = document.createElement('strong');
    name.textContent = brief.dataset.name;
    tip.append(name);
    for (const line of all('[data-tip]', brief)) {
      const text = document.createElement('div');
      text.textContent = line.dataset.tip + ': ' + line.textContent.replace(/\s+/g, ' ').trim();
      tip.append(text);
    }
    tip.hidden = false;
    const frame = plot.getBoundingClientRect();
    const spot = target.getBoundingClientRect();
    const x = spot.left - frame.left + spot.width / 2;
    const left = Math.max(0, Math.min(x - tip.offsetWidth / 2, frame.width - tip.offsetWidth));
    const above = spot.top - frame.top - tip.offsetHeight - 4;
    tip.style.left = left + 'px';
    tip.style.top = (above > 0 ? above : spot.bottom - frame.top + 6) + 'px';
  }

  for (const target of targets) {
    target.addEventListener('pointerenter', () => show(target));
    target.addEventListener('pointerleave', () => { tip.hidden = true; });
    target.addEventListener('focus', () => show(target));
    target.addEventListener('blur', () => { tip.hidden = true; });
    target.addEventListener('click', () => choose(target.dataset.key, true));
    target.addEventListener('keydown', event => {
      const here = all('.target', target.closest('.plot'));
      const at = here.indexOf(target);
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === 'Enter' || event.key === ' ') choose(target.dataset.key, true);
      else if (by && here[at + by]) here[at + by].focus();
      else if (event.key === 'Escape') tip.hidden = true;
      else return;
      event.preventDefault();
    });
  }
  for (const button of all('button[data-choose]')) {
    button.addEventListener('click', () => {
      choose(button.dataset.choose, true);
      if (button.closest('.picks') || button.closest('td')) document.getElementById('trade-off').scrollIntoView();
    });
  }
  list.addEventListener('change', () => choose(list.value, true));
  document.getElementById('previous').addEventListener('click', () => step(-1));
  document.getElementById('next').addEventListener('click', () => step(1));
  window.addEventListener('hashchange', () => choose(location.hash.replace('#point-', ''), false));
  window.addEventListener('beforeprint', () => { for (const part of all('details[data-print]')) part.open = true; });

  choose(list.dataset.start, false);
  choose(location.hash.replace('#point-', ''), false);
})();

// Pages that are read from a folder may start no worker there and fetch no index. For them the search gets both from a
// script, search/offline.js, which site.py makes; it is loaded when the page is there, and questions wait for it.
if (location.protocol === "file:") {
  const Started = window.Worker;
  window.Worker = function () {
    const waiting = [];
    const search = { postMessage: (message) => waiting.push(message) };
    const script = document.createElement("script");
    script.src = base_url + "/search/offline.js";
    script.onload = () => {
      const worker = new Started(URL.createObjectURL(new Blob([offline_search])));
      worker.onmessage = (event) => search.onmessage(event);
      search.postMessage = (message) => worker.postMessage(message);
      waiting.forEach(search.postMessage);
    };
    document.body.append(script);
    return search;
  };
}

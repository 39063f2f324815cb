package deadheat.micronaut;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** A thread that answers every message with the same value. */
final class Worker<T> {
  private final BlockingQueue<CompletableFuture<T>> mailbox = new LinkedBlockingQueue<>();
  private final T answer;

  Worker(String name, T answer) {
    this.answer = answer;
    Thread thread = new Thread(this::work, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** The answer, later: event loops must not wait. */
  CompletableFuture<T> ask() {
    CompletableFuture<T> reply = new CompletableFuture<>();
    mailbox.add(reply);
    return reply;
  }

  private void work() {
    try {
      while (true) {
        mailbox.take().complete(answer);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

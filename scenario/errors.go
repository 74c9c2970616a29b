package scenario

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// mismatch is the error of an expectation that is not met.
type mismatch struct{ want, saw string }

func (m mismatch) Error() string { return "expected " + m.want + "; saw " + m.saw }

// requestError returns the error of a request in the form of transcripts, with the code and the
// reason of a Status before its message.
func requestError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(ctx), errNoResponse) {
		return errNoResponse
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		s := status.Status()
		return fmt.Errorf("%d %s: %w", s.Code, s.Reason, err)
	}
	return err
}

// errNoResponse is the error of a request that exceeds requestTimeout.
var errNoResponse = fmt.Errorf("no response within %v", requestTimeout)
